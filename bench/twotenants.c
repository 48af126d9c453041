// SPDX-License-Identifier: GPL-2.0-only
/*
 * twotenants: a server with a small hot set, and a process that goes through all the rest of the memory.
 *
 * The server's requests each follow a chain of random cache lines through its memory, hot_set, all alike.
 * Some come by an open-loop schedule, lc_rate a second, whether it is ready or not; their latency counts from
 * when they were due, so that what holds up one holds up those behind it as well. In between it works off
 * a backlog of the same requests. Operations are requests of both kinds, so the rate is how many the
 * server could serve: what its operator pays for, and what the schedule alone would not show as long as it
 * is met. With backlog=0 the server sleeps until the next one is due. Then the rate is lc_rate; what
 * there is to see are latencies and the other tenant's speed, and that one's pages are the hotter ones.
 *
 * That one, a process of its own, updates random words of the rest of the working set, or all of them in
 * order, as fast as it can: results batch_ops and batch_rate. Its memory is filled first, so that
 * with start=spill the server finds the fast node full. With start=ideal the server's memory is fast.
 *
 * In the end both undo what they did by doing it once more, and compare all of their memory.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/prctl.h>

#include "base.h"
#include "batch.h"
#include "clock.h"
#include "latency.h"
#include "measure.h"
#include "requests.h"
#include "tenant.h"
#include "workload.h"

/* Requests between two reports of progress. */
#define REQUESTS	16
/* Updates between two looks at whether to stop. */
#define UPDATES		1024

struct config {
	struct workload w;
	uint64_t chain;
	uint64_t lc_rate;
	uint64_t backlog;
	enum batch_kind batch;
	const char *cgroups;		/* NULL: none */
};

#define NUMBER(field)	key_number, offsetof(struct config, field)

static bool parse_batch(const struct key *key, const char *text, void *cfg)
{
	static const char * const kinds[] = { [BATCH_RANDOM] = "random", [BATCH_STREAM] = "stream" };
	int kind = key_word(text, kinds, sizeof(kinds) / sizeof(*kinds));

	(void)key;
	((struct config *)cfg)->batch = kind;
	return kind >= 0;
}

static bool parse_cgroups(const struct key *key, const char *text, void *cfg)
{
	(void)key;
	((struct config *)cfg)->cgroups = strcmp(text, "no") ? text : NULL;
	return !strcmp(text, "no") || text[0] == '/';
}

static const struct key keys[] = {
	WORKLOAD_KEYS("1000000", "15"),
	{ "chain", "32", "cache lines that a request visits", NUMBER(chain), 1, 1 << 20 },
	{ "lc_rate", "1000", "requests a second that come by the schedule", NUMBER(lc_rate), 1, 1000000 },
	{ "backlog", "1", "1: other requests in between; 0: the server sleeps", NUMBER(backlog), 0, 1 },
	{ "batch", "random", "what the other tenant does: random or stream", parse_batch, 0, 0, 0 },
	{ "cgroups", "no", "a folder of cgroup2, as /sys/fs/cgroup: each tenant is in a memory cgroup of\n"
	  "its own below it, lc and batch, which stay; no: none", parse_cgroups, 0, 0, 0 },
};

static const struct keys all = {
	"A server with a hot set, and a process that goes through the rest of the memory.",
	keys, sizeof(keys) / sizeof(keys[0]),
};

/* What the batch tenant is told. */
struct batch_task {
	const struct config *cfg;
	struct place *place;
	uint64_t bytes;
};

static void batch_main(struct tenant *t, void *arg)
{
	const struct batch_task *task = arg;
	uint64_t done = 0;
	struct batch b;

	if (task->cfg->cgroups)
		tenant_enter_cgroup(task->cfg->cgroups, "batch");
	batch_map(&b, task->place, task->bytes, task->cfg->batch, task->cfg->w.seed);
	tenant_ready(t);
	while (!atomic_load_explicit(&t->shared->stop, memory_order_relaxed)) {
		batch_run(&b, UPDATES);
		done += UPDATES;
		atomic_store_explicit(&t->shared->done, done, memory_order_relaxed);
	}
	b.words[b.nr / 2] += task->cfg->w.spoil;
	t->shared->bad = batch_verify(&b, done);
}

static struct latency lc;

/* Returns how many requests were wrong. */
static uint64_t serve(struct requests *r, struct tenant *batch, const struct config *cfg, struct measure *m)
{
	const uint64_t interval = NSEC_PER_SEC / cfg->lc_rate;
	uint64_t due = now_ns() + interval, bad = 0;

	for (uint64_t i = 1; i <= cfg->w.ops; i++) {
		bool is_due = now_ns() >= due;

		if (!is_due && !cfg->backlog) {
			sleep_until(due);
			is_due = true;
		}
		bad += !requests_serve(r);
		if (is_due) {
			latency_add(&lc, now_ns() - due);
			due += interval;
		}
		if (i % REQUESTS)
			continue;
		measure_add(m, REQUESTS);
		tenant_check(batch);
	}
	measure_add(m, cfg->w.ops % REQUESTS);
	return bad;
}

/* Both tenants, until the server has served all. Returns how many requests were wrong. */
static uint64_t run(struct requests *r, struct tenant *batch, const struct config *cfg,
		    const struct place *place)
{
	static struct measure measure;
	uint64_t ns, updates, bad;

	/* Else the kernel lets the sleeps of a process be 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	measure_begin(&measure, place, cfg->w.sample_ms);
	tenant_go(batch);
	bad = serve(r, batch, cfg, &measure);
	updates = atomic_load(&batch->shared->done);
	atomic_store(&batch->shared->stop, true);
	ns = measure_end(&measure);
	latency_report(&lc, "lc");
	result("lc_checksum", r->checksum);
	result("batch_ops", updates);
	result_real("batch_rate", (double)updates * NSEC_PER_SEC / ns);
	return bad;
}

int main(int argc, char **argv)
{
	struct config cfg = { 0 };
	struct batch_task task = { .cfg = &cfg };
	struct requests requests;
	struct tenant batch;
	struct place place;
	uint64_t hot, bytes, bad;

	workload_begin(&all, argc, argv, &cfg, &place);
	bytes = workload_bytes(&cfg.w, cfg.w.working_set);
	hot = workload_hot_bytes(&cfg.w);
	place.hot_bytes = hot;
	task.place = &place;
	task.bytes = bytes - hot;
	tenant_start(&batch, "batch", batch_main, &task);
	tenant_await(&batch);
	if (cfg.cgroups)
		tenant_enter_cgroup(cfg.cgroups, "lc");
	requests_map(&requests, &place, hot, cfg.chain, cfg.w.seed);
	bad = run(&requests, &batch, &cfg, &place);
	if (cfg.w.spoil)
		requests_spoil(&requests);
	bad += requests_verify(&requests, cfg.w.ops);
	bad += tenant_join(&batch);
	return workload_end(bad);
}
