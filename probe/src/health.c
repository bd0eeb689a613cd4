/* SPDX-License-Identifier: Apache-2.0 */
#include "health.h"

#include "clock.h"
#include "privileges.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

/* Beyond the first the oldest connections are ended; beyond the second none are taken until that
 * is done. */
#define CONNECTIONS_KEPT  16u
#define CONNECTIONS_MAX   64u
#define IDLE_SECONDS      5u
#define ADDRESS_BYTES_MAX 80

struct ckp_health {
    bool is_disarmed;                /* its thread has no capabilities any more */
    struct MHD_Daemon *daemon;       /* one thread, so that what follows needs no lock */
    int connection[CONNECTIONS_MAX]; /* descriptors, the oldest first */
    uint32_t connections;
    _Atomic uint64_t session;
    _Atomic int64_t timestamp_resolution_ns;
    struct ckp_vitals *vitals; /* of each worker */
    struct ckp_dump *dump;     /* or NULL */
    const struct ckp_tap_vitals *tap;
    struct ckp_metrics metrics; /* read anew for each request */
};

struct ckp_clock_status ckp_health_clock(void)
{
    struct timex state = {.modes = 0};
    int result = adjtimex(&state);

    return (struct ckp_clock_status){
        .is_synchronised = result >= 0 && result != TIME_ERROR,
        .offset_seconds = (double)state.offset * (state.status & STA_NANO ? 1e-9 : 1e-6),
        .error_seconds = (double)state.maxerror * 1e-6,
    };
}

static void read_worker(struct ckp_metrics_worker *worker, struct ckp_vitals *vitals)
{
    char *statistics = ckp_vitals_take_statistics(vitals);

    if (statistics)
        ckp_kafka_statistics_parse(&worker->kafka, statistics);
    free(statistics);
    worker->reading = ckp_vitals_read(vitals);
}

static const struct ckp_metrics *read_metrics(struct ckp_health *health)
{
    struct ckp_metrics *metrics = &health->metrics;

    for (uint32_t i = 0; i < metrics->worker_count; i++)
        read_worker(&metrics->workers[i], &health->vitals[i]);
    metrics->identity.session = health->session;
    metrics->identity.timestamp_resolution_ns = health->timestamp_resolution_ns;
    ckp_tap_vitals_read(health->tap, &metrics->tap);
    metrics->filters = atomic_load(&health->tap->filters);
    metrics->filters_refused = atomic_load(&health->tap->filters_refused);
    metrics->stage = ckp_vitals_stage(&health->vitals[0]);
    metrics->clock = ckp_health_clock();
    metrics->now_ns = ckp_clock_monotonic_ns();
    return metrics;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              char *text, size_t bytes)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE);

    if (!response) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_sentence(struct MHD_Connection *connection, unsigned status,
                                       const char *sentence)
{
    char *text = NULL;
    int bytes = asprintf(&text, "%s\n", sentence);

    if (bytes < 0)
        return MHD_NO;
    return answer(connection, status, "text/plain; charset=utf-8", text, (size_t)bytes);
}

static enum MHD_Result answer_check(struct MHD_Connection *connection, const char *why_not)
{
    return answer_sentence(connection, why_not ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK,
                           why_not ? why_not : "ok");
}

static enum MHD_Result answer_metrics(struct MHD_Connection *connection,
                                      const struct ckp_metrics *metrics)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return MHD_NO;
    ckp_metrics_print(metrics, out);
    if (fclose(out) != 0) {
        free(text);
        return MHD_NO;
    }
    return answer(connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text, bytes);
}

/* A command on its way in. */
struct upload {
    size_t bytes;
    char text[CKP_DUMP_COMMAND_BYTES_MAX];
};

static void write_remote(struct MHD_Connection *connection, char remote[INET6_ADDRSTRLEN])
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;

    snprintf(remote, INET6_ADDRSTRLEN, "unknown");
    if (address && address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, remote,
                  INET6_ADDRSTRLEN);
    else if (address && address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, remote,
                  INET6_ADDRSTRLEN);
}

static enum MHD_Result answer_capture(struct MHD_Connection *connection,
                                      const struct ckp_dump_answer *dumped)
{
    char frames[32], seconds[32];
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        dumped->byte_count, dumped->bytes, free, dumped->memory);

    if (!response) {
        free(dumped->memory);
        return MHD_NO;
    }
    snprintf(frames, sizeof frames, "%" PRIu64, dumped->frames);
    snprintf(seconds, sizeof seconds, "%.3f",
             (double)dumped->covered_ns / (double)CKP_NANOS_PER_SECOND);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/x-pcapng");
    MHD_add_response_header(response, "Chokepoint-Frames", frames);
    MHD_add_response_header(response, "Chokepoint-Covered-Seconds", seconds);
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_command(struct ckp_health *health, struct MHD_Connection *connection,
                                      const struct upload *upload)
{
    char remote[INET6_ADDRSTRLEN];

    write_remote(connection, remote);
    struct ckp_dump_answer dumped = ckp_dump_follow(
        health->dump, upload->text, upload->bytes,
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Chokepoint-Signature"), remote);
    return dumped.status == CKP_DUMP_OK
               ? answer_capture(connection, &dumped)
               : answer_sentence(connection, (unsigned)dumped.status, dumped.why);
}

/* Called for the header, for each part of the body, and at its end. */
static enum MHD_Result take_command(struct ckp_health *health, struct MHD_Connection *connection,
                                    const char *text, size_t *bytes, void **request)
{
    struct upload *upload = *request;

    if (!upload) {
        *request = calloc(1, sizeof *upload);
        return *request ? MHD_YES : MHD_NO;
    }
    if (*bytes == 0)
        return answer_command(health, connection, upload);
    if (*bytes > sizeof upload->text - upload->bytes)
        return MHD_NO; /* closes the connection */
    memcpy(upload->text + upload->bytes, text, *bytes);
    upload->bytes += *bytes;
    *bytes = 0;
    return MHD_YES;
}

static void on_completed(void *self, struct MHD_Connection *connection, void **request,
                         enum MHD_RequestTerminationCode code)
{
    (void)self, (void)connection, (void)code;
    free(*request);
    *request = NULL;
}

/* Its thread is older than the dropping of privileges, and has some of its own: what strangers send
 * it reads without, once the others have dropped theirs. Earlier the change of user would fail. */
static bool give_up_capabilities(struct ckp_health *health)
{
    if (!health->is_disarmed && ckp_vitals_stage(&health->vitals[0]) != CKP_STAGE_OPENING)
        health->is_disarmed = ckp_privileges_drop_capabilities();
    return health->is_disarmed || ckp_vitals_stage(&health->vitals[0]) == CKP_STAGE_OPENING;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **request)
{
    struct ckp_health *health = self;
    bool is_read =
        strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;

    (void)version;
    if (!give_up_capabilities(health))
        return MHD_NO;
    if (strcmp(url, "/dump") == 0 && strcmp(method, MHD_HTTP_METHOD_POST) == 0)
        return health->dump
                   ? take_command(health, connection, upload, upload_bytes, request)
                   : answer_sentence(connection, MHD_HTTP_NOT_FOUND,
                                     "there is no ring of recent packets, for that it takes "
                                     "--ring-memory");
    if (!is_read)
        return answer_sentence(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD alone");
    const struct ckp_metrics *metrics = read_metrics(health);
    if (strcmp(url, "/metrics") == 0)
        return answer_metrics(connection, metrics);
    if (strcmp(url, "/healthz") == 0)
        return answer_check(connection, ckp_metrics_why_not_alive(metrics));
    if (strcmp(url, "/readyz") == 0)
        return answer_check(connection, ckp_metrics_why_not_ready(metrics));
    return answer_sentence(connection, MHD_HTTP_NOT_FOUND,
                           health->dump ? "there are /metrics, /healthz, /readyz, and POST /dump"
                                        : "there are /metrics, /healthz, /readyz");
}

/* The C library takes 1 for 0.0.0.1, and 65537 for port 1. */
static bool is_whole(const char *host, const char *port)
{
    struct in_addr whole;
    size_t digits = strspn(port, "0123456789");

    return digits >= 1 && digits <= 5 && port[digits] == '\0' && atoi(port) <= UINT16_MAX &&
           (strchr(host, ':') || inet_pton(AF_INET, host, &whole) == 1);
}

/* Numbers alone: a name would be asked of others, and may have several addresses. */
static struct addrinfo *find_address(const char *text)
{
    const struct addrinfo hints = {
        .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
    };
    char host[ADDRESS_BYTES_MAX + 1];
    char *colon, *name = host;
    struct addrinfo *found = NULL;

    snprintf(host, sizeof host, "%s", text);
    colon = strrchr(host, ':');
    if (!colon || colon == host || colon[1] == '\0')
        return NULL;
    *colon = '\0';
    if (host[0] == '[' && colon[-1] == ']' && strchr(host, ':')) {
        colon[-1] = '\0';
        name = host + 1;
    } else if (strchr(host, ':')) {
        return NULL; /* IPv6 without brackets: which colon is it? */
    }
    if (!is_whole(name, colon + 1))
        return NULL;
    return getaddrinfo(name, colon + 1, &hints, &found) == 0 ? found : NULL;
}

bool ckp_health_is_address(const char *text)
{
    struct addrinfo *address = find_address(text);

    if (address)
        freeaddrinfo(address);
    return address != NULL;
}

bool ckp_health_is_loopback(const char *text)
{
    struct addrinfo *found = find_address(text);
    bool is_loopback = false;

    if (found && found->ai_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const void *)found->ai_addr;
        is_loopback = ntohl(ipv4->sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
    } else if (found && found->ai_family == AF_INET6) {
        const struct sockaddr_in6 *ipv6 = (const void *)found->ai_addr;
        is_loopback = IN6_IS_ADDR_LOOPBACK(&ipv6->sin6_addr);
    }
    if (found)
        freeaddrinfo(found);
    return is_loopback;
}

/* Who sends a byte now and then would keep others out for as long as he likes: an answer takes a
 * moment, so whoever comes may end who has been there longest. */
static void on_connection(void *self, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct ckp_health *health = self;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    uint32_t at = 0;

    (void)context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        if (health->connections == CONNECTIONS_MAX)
            return;
        if (health->connections >= CONNECTIONS_KEPT)
            shutdown(health->connection[health->connections - CONNECTIONS_KEPT], SHUT_RDWR);
        health->connection[health->connections++] = info->connect_fd;
        return;
    }
    while (at < health->connections && health->connection[at] != info->connect_fd)
        at++;
    if (at == health->connections)
        return;
    health->connections--;
    memmove(&health->connection[at], &health->connection[at + 1],
            (health->connections - at) * sizeof health->connection[0]);
}

/* Its thread takes no signals: they should wake the receive loop. */
static struct MHD_Daemon *start(struct ckp_health *health, const struct addrinfo *address)
{
    sigset_t all, before;
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL;

    if (address->ai_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    sigfillset(&all);
    sigdelset(&all, SIGSYS); /* says which system call was refused */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, health, MHD_OPTION_SOCK_ADDR, address->ai_addr,
        MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, health, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, NULL, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

struct ckp_health *ckp_health_open(const char *address, const struct ckp_metrics_identity *identity,
                                   struct ckp_vitals *vitals, uint32_t worker_count,
                                   const struct ckp_tap_vitals *tap, struct ckp_dump *dump,
                                   char *why, size_t why_size)
{
    struct ckp_health *health = calloc(1, sizeof *health);
    struct addrinfo *found = find_address(address);

    if (health && found) {
        health->metrics.identity = *identity;
        health->metrics.worker_count = worker_count;
        health->vitals = vitals;
        health->dump = dump;
        health->tap = tap;
        errno = 0;
        health->daemon = start(health, found);
    }
    if (found)
        freeaddrinfo(found);
    if (health && health->daemon)
        return health;
    snprintf(why, why_size, "metrics cannot be served at %s: %s", address,
             errno ? strerror(errno) : "no such address");
    free(health);
    return NULL;
}

void ckp_health_tell_source(struct ckp_health *health, uint64_t session,
                            int64_t timestamp_resolution_ns)
{
    health->session = session;
    health->timestamp_resolution_ns = timestamp_resolution_ns;
}

void ckp_health_close(struct ckp_health *health)
{
    if (!health)
        return;
    MHD_stop_daemon(health->daemon);
    free(health);
}

unsigned ckp_health_port(const struct ckp_health *health)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(health->daemon, MHD_DAEMON_INFO_BIND_PORT);

    return info ? info->port : 0;
}
