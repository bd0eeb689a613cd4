/* SPDX-License-Identifier: Apache-2.0 */
#include "domain.h"

#include "run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VLAN_MAX   4094u
#define DOMAIN_MAX INT32_MAX

/* Beyond all tunnel ids, which have 32 bits. */
#define PLACE_VLAN (UINT64_C(1) << 32)

static bool read_number(const char **text, uint64_t max, uint64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0 && *number <= max;
}

/* Moves on if the text goes on so. */
static bool read_word(const char **text, const char *word)
{
    size_t bytes = strlen(word);

    if (strncmp(*text, word, bytes) != 0)
        return false;
    *text += bytes;
    return true;
}

static bool read_place(const char **text, uint64_t *place)
{
    if (read_word(text, "tunnel:"))
        return read_number(text, UINT32_MAX, place);
    if (!read_word(text, "vlan:") || !read_number(text, VLAN_MAX, place))
        return false;
    *place |= PLACE_VLAN;
    return true;
}

static bool read_rule(const char **text, struct ckp_domain_rule *rule)
{
    uint64_t domain;

    if (!read_place(text, &rule->place) || !read_word(text, "=") ||
        !read_number(text, DOMAIN_MAX, &domain))
        return false;
    rule->domain = (uint32_t)domain;
    return true;
}

/* The first rule whose place is not before `place`, or one past the last. */
static size_t find(const struct ckp_domain_rules *rules, uint64_t place)
{
    size_t low = 0, high = rules->count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rules->rule[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(struct ckp_domain_rules *rules, const struct ckp_domain_rule *rule)
{
    size_t at = find(rules, rule->place);

    if (at < rules->count && rules->rule[at].place == rule->place)
        return rules->rule[at].domain == rule->domain;
    struct ckp_domain_rule *grown =
        realloc(rules->rule, (rules->count + 1) * sizeof rules->rule[0]);
    if (!grown)
        return false;
    rules->rule = grown;
    memmove(grown + at + 1, grown + at, (rules->count - at) * sizeof grown[0]);
    grown[at] = *rule;
    rules->count++;
    return true;
}

bool ckp_domain_rules_add(struct ckp_domain_rules *rules, const char *text)
{
    struct ckp_domain_rule rule;
    bool is_right;

    do
        is_right = read_rule(&text, &rule) && insert(rules, &rule);
    while (is_right && read_word(&text, ","));
    return is_right && *text == '\0';
}

void ckp_domain_rules_free(struct ckp_domain_rules *rules)
{
    free(rules->rule);
    *rules = (struct ckp_domain_rules){0};
}

static const struct ckp_domain_rule *rule_of(const struct ckp_domain_rules *rules, uint64_t place)
{
    size_t at = find(rules, place);

    return at < rules->count && rules->rule[at].place == place ? &rules->rule[at] : NULL;
}

uint32_t ckp_domain_of(const struct ckp_domain_rules *rules, int64_t tunnel_id, uint16_t vlan_id,
                       uint32_t otherwise)
{
    const struct ckp_domain_rule *rule = NULL;

    if (tunnel_id != CKP_TUNNEL_NONE)
        rule = rule_of(rules, (uint64_t)tunnel_id);
    if (!rule && vlan_id != CKP_VLAN_NONE)
        rule = rule_of(rules, PLACE_VLAN | vlan_id);
    return rule ? rule->domain : otherwise;
}
