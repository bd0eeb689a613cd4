/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "avro.h"

static uint8_t *write_endpoint(uint8_t *out, const struct ckp_address *address, bool is_ipv6,
                               uint16_t port)
{
    uint8_t bytes[16];

    out = ckp_write_bytes(out, bytes, ckp_address_write(bytes, address, is_ipv6));
    return ckp_write_zigzag(out, port);
}

uint8_t *ckp_place_write(uint8_t *out, const struct ckp_flow_key *key, uint16_t vlan_id,
                         int64_t tunnel_id)
{
    out = ckp_write_zigzag(out, key->domain);
    out = write_endpoint(out, &key->low_address, key->is_ipv6, key->low_port);
    out = write_endpoint(out, &key->high_address, key->is_ipv6, key->high_port);
    out = ckp_write_optional(out, vlan_id != CKP_VLAN_NONE, vlan_id);
    return ckp_write_optional(out, tunnel_id != CKP_TUNNEL_NONE, tunnel_id);
}

uint8_t *ckp_run_write(uint8_t *out, const struct ckp_run *run)
{
    out = ckp_place_write(out, run->key, run->vlan_id, run->tunnel_id);
    out = ckp_write_zigzag(out, run->flow_start_ns);
    out = ckp_write_zigzag(out, (int64_t)run->packets_before);
    out = ckp_write_zigzag(out, run->observed_until_ns);
    out = ckp_write_zigzag(out, run->end_reason);
    out = ckp_write_zigzag(out, run->packets.count);
    return ckp_columns_write(out, &run->packets);
}
