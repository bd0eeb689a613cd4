/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables of README.md: `tables options`, `tables counters`. */
#include "ledger.h"
#include "options.h"

#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "options") == 0)
        ckp_options_print_table(stdout);
    else if (argc == 2 && strcmp(argv[1], "counters") == 0)
        ckp_ledger_print_counter_table(stdout);
    else
        return 2;
    return 0;
}
