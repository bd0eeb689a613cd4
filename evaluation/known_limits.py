# SPDX-License-Identifier: Apache-2.0
"""Why verdicts fail where they do, as far as it is known; the page shows what applies."""

# By (scenario, true cause).
REASONS = {}


def reason(scenario, cause):
    return REASONS.get((scenario, cause), "")
