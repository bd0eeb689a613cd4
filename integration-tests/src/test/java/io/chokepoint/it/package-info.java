// SPDX-License-Identifier: Apache-2.0
/** The product from outside. */
package io.chokepoint.it;
