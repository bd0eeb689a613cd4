/* SPDX-License-Identifier: Apache-2.0 */
#include "anonymise.h"

#include "octets.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES    16u
#define ADDRESS_BITS   128u
#define HEX_DIGITS     (2 * CKP_ANONYMISE_KEY_BYTES)
#define FILE_BYTES_MAX 128u

struct ckp_anonymiser {
    EVP_CIPHER_CTX *cipher;
    uint64_t pad[2];
    uint8_t blocks[2 * ADDRESS_BITS * BLOCK_BYTES];
};

static uint8_t *store_be64(uint8_t *out, uint64_t word)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        *out++ = (uint8_t)(word >> shift);
    return out;
}

/* AES cannot fail once it is set up; if it did, going on would let real addresses out. */
static void encrypt(struct ckp_anonymiser *anonymiser, size_t blocks)
{
    int bytes = (int)(blocks * BLOCK_BYTES), written;

    if (EVP_EncryptUpdate(anonymiser->cipher, anonymiser->blocks, &written, anonymiser->blocks,
                          bytes) != 1 ||
        written != bytes)
        abort();
}

struct ckp_anonymiser *ckp_anonymiser_new(const uint8_t key[CKP_ANONYMISE_KEY_BYTES])
{
    struct ckp_anonymiser *anonymiser = calloc(1, sizeof *anonymiser);

    if (!anonymiser)
        return NULL;
    anonymiser->cipher = EVP_CIPHER_CTX_new();
    if (!anonymiser->cipher ||
        EVP_EncryptInit_ex(anonymiser->cipher, EVP_aes_128_ecb(), NULL, key, NULL) != 1) {
        ckp_anonymiser_free(anonymiser);
        return NULL;
    }
    EVP_CIPHER_CTX_set_padding(anonymiser->cipher, 0);
    memcpy(anonymiser->blocks, key + BLOCK_BYTES, BLOCK_BYTES);
    encrypt(anonymiser, 1);
    anonymiser->pad[0] = ckp_load_be64(anonymiser->blocks);
    anonymiser->pad[1] = ckp_load_be64(anonymiser->blocks + 8);
    return anonymiser;
}

void ckp_anonymiser_free(struct ckp_anonymiser *anonymiser)
{
    if (!anonymiser)
        return;
    EVP_CIPHER_CTX_free(anonymiser->cipher);
    OPENSSL_cleanse(anonymiser, sizeof *anonymiser);
    free(anonymiser);
}

/* The leading `bits` of 64. */
static uint64_t leading(int bits)
{
    return bits <= 0 ? 0 : bits >= 64 ? UINT64_MAX : ~(UINT64_MAX >> bits);
}

/* For each bit of an address the block that decides on it: all bits before it, then the pad. */
static uint8_t *write_blocks(uint8_t *out, const uint64_t address[2], int bits,
                             const uint64_t pad[2])
{
    for (int bit = 0; bit < bits; bit++) {
        out = store_be64(out, (address[0] & leading(bit)) | (pad[0] & ~leading(bit)));
        out = store_be64(out, (address[1] & leading(bit - 64)) | (pad[1] & ~leading(bit - 64)));
    }
    return out;
}

/* Flips each bit whose encrypted block starts with a one. */
static const uint8_t *flip(uint64_t address[2], int bits, const uint8_t *encrypted)
{
    for (int bit = 0; bit < bits; bit++, encrypted += BLOCK_BYTES)
        address[bit / 64] ^= (uint64_t)(encrypted[0] >> 7) << (63 - bit % 64);
    return encrypted;
}

void ckp_anonymise(void *self, struct ckp_address addresses[2], bool is_ipv6)
{
    struct ckp_anonymiser *anonymiser = self;
    int bits = is_ipv6 ? 128 : 32;
    uint64_t left_aligned[2][2];
    uint8_t *end = anonymiser->blocks;

    for (int i = 0; i < 2; i++) {
        left_aligned[i][0] = is_ipv6 ? addresses[i].word[0] : addresses[i].word[1] << 32;
        left_aligned[i][1] = is_ipv6 ? addresses[i].word[1] : 0;
        end = write_blocks(end, left_aligned[i], bits, anonymiser->pad);
    }
    encrypt(anonymiser, (size_t)(end - anonymiser->blocks) / BLOCK_BYTES);
    const uint8_t *encrypted = anonymiser->blocks;
    for (int i = 0; i < 2; i++) {
        encrypted = flip(left_aligned[i], bits, encrypted);
        if (is_ipv6)
            memcpy(addresses[i].word, left_aligned[i], sizeof addresses[i].word);
        else
            addresses[i].word[1] =
                (addresses[i].word[1] & ~(uint64_t)UINT32_MAX) | left_aligned[i][0] >> 32;
    }
}

uint64_t ckp_anonymise_number(struct ckp_anonymiser *anonymiser, uint64_t number)
{
    memcpy(store_be64(anonymiser->blocks, number), "a number", 8);
    encrypt(anonymiser, 1);
    return ckp_load_be64(anonymiser->blocks);
}

static bool are_digits(const uint8_t *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isxdigit(text[i]))
            return false;
    return true;
}

static uint8_t digit(uint8_t character)
{
    return (uint8_t)(isdigit(character) ? character - '0' : tolower(character) - 'a' + 10);
}

/* 32 digits would be half a key, written out. @return false if it is no key */
static bool parse_key(uint8_t key[CKP_ANONYMISE_KEY_BYTES], const uint8_t *content, size_t bytes)
{
    if (bytes == CKP_ANONYMISE_KEY_BYTES) {
        memcpy(key, content, bytes);
        return !are_digits(content, bytes);
    }
    while (bytes > HEX_DIGITS && isspace(content[bytes - 1]))
        bytes--;
    if (bytes != HEX_DIGITS || !are_digits(content, bytes))
        return false;
    for (size_t i = 0; i < CKP_ANONYMISE_KEY_BYTES; i++)
        key[i] = (uint8_t)(digit(content[2 * i]) << 4 | digit(content[2 * i + 1]));
    return true;
}

/* @return how many bytes, at most `room`; -1 with errno set */
static ssize_t read_all(int descriptor, uint8_t *content, size_t room)
{
    size_t at = 0;
    ssize_t bytes = 0;

    while (at < room && (bytes = read(descriptor, content + at, room - at)) > 0)
        at += (size_t)bytes;
    return bytes < 0 ? -1 : (ssize_t)at;
}

static bool read_key(uint8_t key[CKP_ANONYMISE_KEY_BYTES], int descriptor, const char *path,
                     char *why, size_t why_size)
{
    uint8_t content[FILE_BYTES_MAX];
    struct stat status;
    ssize_t bytes;

    if (fstat(descriptor, &status) != 0 ||
        (bytes = read_all(descriptor, content, sizeof content)) < 0) {
        snprintf(why, why_size, "option --anonymise: %s cannot be read: %s", path, strerror(errno));
        return false;
    }
    bool is_key = parse_key(key, content, (size_t)bytes);
    OPENSSL_cleanse(content, sizeof content);
    if (status.st_mode & (S_IRWXG | S_IRWXO))
        snprintf(why, why_size,
                 "option --anonymise: %s has mode %04o, expected a key that nobody but its owner "
                 "may open, as by chmod 600",
                 path, (unsigned)(status.st_mode & 07777));
    else if (!is_key)
        snprintf(why, why_size,
                 "option --anonymise: %s is no key, expected %u random bytes or %u hexadecimal "
                 "digits",
                 path, CKP_ANONYMISE_KEY_BYTES, HEX_DIGITS);
    else
        return true;
    return false;
}

struct ckp_anonymiser *ckp_anonymiser_open(const char *path, char *why, size_t why_size)
{
    struct ckp_anonymiser *anonymiser = NULL;
    uint8_t key[CKP_ANONYMISE_KEY_BYTES];
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);

    if (descriptor < 0) {
        snprintf(why, why_size, "option --anonymise: %s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    if (read_key(key, descriptor, path, why, why_size)) {
        anonymiser = ckp_anonymiser_new(key);
        if (!anonymiser)
            snprintf(why, why_size, "option --anonymise: libcrypto offers no AES-128");
    }
    OPENSSL_cleanse(key, sizeof key);
    close(descriptor);
    return anonymiser;
}
