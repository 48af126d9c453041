// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fail the N-th call, for an engine without calls to fail: interrupt the N-th atomic operation.
 *
 * The engine is compiled into this program with port.h's atomic operations replaced by ones that
 * count. Just before the N-th of operation A, a whole operation B is run, as another CPU could: so
 * compare-and-exchanges fail, bits change between the look and the act, and time passes. This is
 * done for every N, for all pairs that may run together (recorders run beside everything, the
 * thread's operations one at a time), from several states of the map, in both layouts; and for a
 * recorder A also with two operations B, at every two points.
 *
 * After each:
 *   - a record that is not zero lies in a live area, a ready one in a ready area;
 *   - every page is as if the operations had been done one after the other, in some order: no
 *     access and no refusal is lost, none counted twice (for A a tick, which lets several epochs
 *     pass one by one: as if B had been done when it was);
 *   - reported = recorded + untracked + unmovable;
 *   - a recorder that set a ready bit says wake; an idle map with live areas was woken;
 *   - a selection keeps to room and tokens and takes no page twice.
 *
 * To be compiled alone: it includes the engine's .c files.
 */
#include "../../engine/port.h"

static void atomic_point(void);
static u64 counted_or64(u64 *p, u64 v);

#undef port_load
#undef port_store
#undef port_load_acquire
#undef port_store_release
#undef port_cmpxchg
#undef port_or64
#undef port_and64
#undef port_barrier

#define port_load(p)		(atomic_point(), __atomic_load_n(p, __ATOMIC_RELAXED))
#define port_store(p, v)	(atomic_point(), __atomic_store_n(p, v, __ATOMIC_RELAXED))
#define port_load_acquire(p)	(atomic_point(), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define port_store_release(p, v) (atomic_point(), __atomic_store_n(p, v, __ATOMIC_RELEASE))
#define port_cmpxchg(p, oldp, new)						\
	(atomic_point(), __atomic_compare_exchange_n(p, oldp, new, false, __ATOMIC_SEQ_CST,	\
					     __ATOMIC_RELAXED))
#define port_or64(p, v)		counted_or64(p, v)
#define port_and64(p, v)	(atomic_point(), __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST))
#define port_barrier()		(atomic_point(), __atomic_thread_fence(__ATOMIC_SEQ_CST))

#include "../../engine/bucket.c"
#include "../../engine/engine.c"
#include "../../engine/governor.c"
#include "../../engine/hotmap.c"
#include "../../engine/select.c"

#include "fixture.h"

enum {
	WINDOW_MS = 4000, EPOCH_MS = 1000, THRESHOLD = 2, SECTIONS = 2, MAX_PICKS = 64,
	P = 3 * HOTMAP_AREA_PAGES + 5,			/* the page that everybody wants */
	Q = P + 20,					/* another page of its area */
	S = 40 * HOTMAP_AREA_PAGES,			/* a page of another area of its section */
	R = HOTMAP_SECTION_PAGES + 9 * HOTMAP_AREA_PAGES, /* a page of another section */
	OUTSIDE = SECTIONS * HOTMAP_SECTION_PAGES,
	MAX_RIVALS = 2,
	TARGETS = 2,
};

/* All pages that any operation touches. */
static const u64 tracked[] = { P, P + 1, P + 2, Q, S, R };

enum { TRACKED = sizeof(tracked) / sizeof(tracked[0]) };

/* ---- operations ---- */

enum kind { RECORD, TICK, SELECT, SETTLE };

struct op {
	const char *name;
	enum kind kind;
	bool in_pairs;			/* also tried as one of two operations B */
	struct pghot_report reports[4];
	u32 nr_reports, flags;
	u32 epochs;			/* TICK: to let pass */
	struct select_target target;	/* SELECT: each of them */
	enum hotmap_settled how;
};

static const struct op ops[] = {
	{ .name = "record", .kind = RECORD, .in_pairs = true, .nr_reports = 1,
	  .reports = { { P, 1, 1, 1 } } },
	{ .name = "record in the same area", .kind = RECORD, .in_pairs = true, .nr_reports = 1,
	  .reports = { { Q, 1, 0, 2 } } },
	{ .name = "record in the same section", .kind = RECORD, .nr_reports = 1,
	  .reports = { { S, 1, 1, 2 } } },
	{ .name = "record elsewhere", .kind = RECORD, .nr_reports = 1,
	  .reports = { { R, 1, 0, 2 } } },
	{ .name = "record outside the limit", .kind = RECORD, .in_pairs = true, .nr_reports = 1,
	  .reports = { { P, 1, 2, 1 } }, .flags = PGHOT_SKIP_FREQ | PGHOT_SKIP_LIMIT },
	{ .name = "record ready", .kind = RECORD, .nr_reports = 1,
	  .reports = { { P, 1, -1, 1 } }, .flags = PGHOT_READY },
	{ .name = "bulk record", .kind = RECORD, .nr_reports = 4,
	  .reports = { { P, 3, 2, 1 }, { R, 1, 1, 2 }, { OUTSIDE, 7, 0, 1 }, { Q, 1, 0, 1 } } },
	{ .name = "tick, no time", .kind = TICK },
	{ .name = "tick, one epoch", .kind = TICK, .epochs = 1, .in_pairs = true },
	{ .name = "tick, three epochs", .kind = TICK, .epochs = 3, .in_pairs = true },
	{ .name = "tick, long overdue", .kind = TICK, .epochs = 14 },
	{ .name = "select", .kind = SELECT, .target = { .room = 50, .tokens = 50 },
	  .in_pairs = true },
	{ .name = "select without tokens", .kind = SELECT, .target = { .room = 2 } },
	{ .name = "select single pages", .kind = SELECT, .target = { .room = 1, .tokens = 9 } },
	{ .name = "select for an ample target", .kind = SELECT,
	  .target = { .room = 50, .take_all = true } },
	{ .name = "settle moved", .kind = SETTLE, .how = HOTMAP_MOVED, .in_pairs = true },
	{ .name = "settle retry", .kind = SETTLE, .how = HOTMAP_RETRY },
	{ .name = "settle busy", .kind = SETTLE, .how = HOTMAP_BUSY },
	{ .name = "settle stuck", .kind = SETTLE, .how = HOTMAP_STUCK, .in_pairs = true },
	{ .name = "settle wait", .kind = SETTLE, .how = HOTMAP_WAIT },
	{ .name = "settle cannot", .kind = SETTLE, .how = HOTMAP_CANNOT, .in_pairs = true },
};

enum { OPS = sizeof(ops) / sizeof(ops[0]) };

/* ---- states to start from ---- */

static struct engine *engine;
static u64 now_ms;

static void pass_epochs(u32 epochs)
{
	while (epochs--)
		engine_tick(engine, now_ms += EPOCH_MS);
}

/* Accessed by node 0, so for target 0 where the layout knows that. */
static void heat(u64 nth, u32 weight, u32 flags)
{
	record_one(engine, page(nth), 0, weight, flags);
	engine_tick(engine, now_ms);
}

static void state_empty(void)
{
}

static void state_warm(void)
{
	heat(P, 1, 0);
}

static void state_ready(void)
{
	heat(P, 3, 0);
	heat(R, 2, 0);
	pass_epochs(3);
	engine->sel.cursor = page(Q);
}

static void state_exempt(void)
{
	heat(P, 1, 0);
	heat(R, 3, PGHOT_SKIP_LIMIT);
}

static void state_top(void)
{
	heat(P, 3, PGHOT_SKIP_LIMIT);
	pass_epochs(PHI_WINDOW_EPOCHS);
}

/* One more epoch and P is forgotten. */
static void state_dying(void)
{
	heat(P, 6, 0);
	pass_epochs(PHI_DEAD_EPOCHS - 1);
}

/* One more epoch and P is released. */
static void state_held(void)
{
	heat(P, 3, 0);
	engine_settle(engine, page(P), 1, HOTMAP_STUCK);
	pass_epochs(PHI_WINDOW_EPOCHS - 1);
}

static void state_unmovable(void)
{
	heat(P, 3, 0);
	engine_settle(engine, page(P), 1, HOTMAP_CANNOT);
	pass_epochs(PHI_HOLD_MAX_EPOCHS - 1);
}

static const struct {
	const char *name;
	void (*build)(void);
} states[] = {
	{ "empty", state_empty },
	{ "warm", state_warm },
	{ "ready", state_ready },
	{ "exempt elsewhere", state_exempt },
	{ "exempt", state_top },
	{ "dying", state_dying },
	{ "held", state_held },
	{ "unmovable", state_unmovable },
};

enum { STATES = sizeof(states) / sizeof(states[0]) };

struct snapshot {
	struct engine engine;
	u64 now_ms;
	u64 ready[SECTIONS], live[SECTIONS];
	u32 records[TRACKED];
};

static struct hotmap_section *section(u32 at)
{
	return engine->map.dir->sections[at];
}

static void put_record(u64 nth, u32 raw)
{
	struct hotmap_section *s = section((u32)(nth / HOTMAP_SECTION_PAGES));

	if (engine->map.layout == PHI_BYTE)
		((u8 *)s->records)[nth % HOTMAP_SECTION_PAGES] = (u8)raw;
	else
		((u32 *)s->records)[nth % HOTMAP_SECTION_PAGES] = raw;
}

static void take_records(u32 *records)
{
	u32 i;

	for (i = 0; i < TRACKED; i++)
		records[i] = walk_load(engine->map.layout,
				       section((u32)(tracked[i] / HOTMAP_SECTION_PAGES)),
				       tracked[i]);
}

static void save(struct snapshot *to)
{
	u32 i;

	to->engine = *engine;
	to->now_ms = now_ms;
	for (i = 0; i < SECTIONS; i++) {
		to->ready[i] = section(i)->ready;
		to->live[i] = section(i)->live;
	}
	take_records(to->records);
}

static void restore(const struct snapshot *from)
{
	u32 i;

	*engine = from->engine;
	now_ms = from->now_ms;
	for (i = 0; i < SECTIONS; i++) {
		section(i)->ready = from->ready[i];
		section(i)->live = from->live[i];
	}
	for (i = 0; i < TRACKED; i++)
		put_record(tracked[i], from->records[i]);
}

/* ---- running operations, interrupted ---- */

/* What an operation did. */
struct call {
	const struct op *op;
	struct hotmap_tally tally;
	bool set_ready;			/* it turned a ready bit on */
	struct select_pick picks[MAX_PICKS];
	struct select_target targets[TARGETS];
};

/* B: what runs inside of A, and when. */
static struct rival {
	const struct op *op;
	u64 at;				/* number of A's atomic operation */
	struct call call;
	u32 epoch;			/* when it was done */
	u32 records[TRACKED];		/* then */
} rivals[MAX_RIVALS];

static u32 nr_rivals, rivals_done;
static u64 steps;
static bool counting;
static struct call *current;

static void run(struct call *call, const struct op *op)
{
	struct call *outer = current;
	struct pghot_report reports[4];
	u32 i;

	memset(call, 0, sizeof(*call));
	call->op = op;
	current = call;
	switch (op->kind) {
	case RECORD:
		for (i = 0; i < op->nr_reports; i++) {
			reports[i] = op->reports[i];
			reports[i].pfn = page(reports[i].pfn);
		}
		engine_record(engine, reports, op->nr_reports, 1, op->flags, &call->tally);
		break;
	case TICK:
		engine_tick(engine, now_ms += op->epochs * (u64)EPOCH_MS);
		break;
	case SELECT:
		for (i = 0; i < TARGETS; i++)
			call->targets[i] = op->target;
		engine_select(engine, call->targets, TARGETS, call->picks, MAX_PICKS);
		break;
	case SETTLE:
		engine_settle(engine, page(P), 1, op->how);
		break;
	}
	current = outer;
}

static void atomic_point(void)
{
	if (!counting)
		return;
	steps++;
	counting = false;
	while (rivals_done < nr_rivals && rivals[rivals_done].at <= steps) {
		struct rival *b = &rivals[rivals_done++];

		run(&b->call, b->op);
		b->epoch = engine->map.epoch;
		take_records(b->records);
	}
	counting = true;
}

static u64 counted_or64(u64 *p, u64 v)
{
	u64 old;
	u32 i;

	atomic_point();
	old = __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);
	for (i = 0; current && i < SECTIONS; i++)
		current->set_ready |= p == &section(i)->ready && (v & ~old);
	return old;
}

/* ---- what must hold afterwards ---- */

/* The pages as an observer sees them. */
struct view {
	struct phi pages[TRACKED];
};

static void look(struct view *view)
{
	u32 i;

	for (i = 0; i < TRACKED; i++)
		view->pages[i] = hotmap_look(&engine->map, page(tracked[i]));
}

/* Of a page without heat that is not held nothing else counts. */
static bool same(const struct phi *a, const struct phi *b)
{
	if (!a->heat && !a->hold && !b->heat && !b->hold)
		return true;
	return a->heat == b->heat && a->hold == b->hold && a->age == b->age && a->nid == b->nid;
}

/* The views that A and the operations B leave when done one after the other. */
struct orders {
	struct view views[MAX_RIVALS + 1];
	u32 nr;
};

static void try_orders(struct orders *orders, const struct snapshot *start, const struct op *a)
{
	static struct call ignored;
	u32 before, i;

	orders->nr = nr_rivals + 1;
	for (before = 0; before <= nr_rivals; before++) {
		restore(start);
		for (i = 0; i < before; i++)
			run(&ignored, rivals[i].op);
		run(&ignored, a);
		for (; i < nr_rivals; i++)
			run(&ignored, rivals[i].op);
		look(&orders->views[before]);
	}
}

static const char *bits_fail(void)
{
	struct phi_clock clock = { .epoch = engine->map.epoch, .threshold = THRESHOLD };
	u32 records[TRACKED], i;

	take_records(records);
	for (i = 0; i < TRACKED; i++) {
		struct hotmap_section *s = section((u32)(tracked[i] / HOTMAP_SECTION_PAGES));
		u64 area = tracked[i] % HOTMAP_SECTION_PAGES / HOTMAP_AREA_PAGES;
		struct phi p = phi_look(engine->map.layout, records[i], &clock);

		if (records[i] && !(s->live >> area & 1))
			return "a record lies in an area that is not live";
		if (phi_ready(&p, THRESHOLD) && !(s->ready >> area & 1))
			return "a ready page lies in an area that is not ready";
	}
	return NULL;
}

static const char *target_fails(const struct call *call, const struct select_target *t)
{
	u32 exempt = 0, i, j;

	for (i = 0; i < t->count; i++) {
		exempt += call->picks[t->first + i].heat == phi_top(engine->map.layout);
		for (j = 0; j < t->first + i; j++)
			if (call->picks[j].pfn == call->picks[t->first + i].pfn)
				return "a page was selected twice";
	}
	if (t->count > t->room)
		return "more pages were selected than there is room";
	if (!t->take_all && t->count - exempt > t->tokens)
		return "more pages were selected than there are tokens";
	return NULL;
}

static const char *call_fails(const struct call *call)
{
	const struct select_target *t = call->targets;
	u32 want = 0, i;

	for (i = 0; i < call->op->nr_reports; i++)
		want += call->op->reports[i].nr_pages;
	if (call->tally.pages[HOTMAP_RECORDED] + call->tally.pages[HOTMAP_UNTRACKED] +
	    call->tally.pages[HOTMAP_UNMOVABLE] != want)
		return "the tally does not add up";
	if (call->op->kind == RECORD && call->set_ready && !call->tally.wake)
		return "a ready bit was set and nobody woken";
	if (t[0].count && t[1].count && t[0].first + t[0].count > t[1].first)
		return "the picks of two targets overlap";
	for (i = 0; i < TARGETS; i++)
		if (target_fails(call, &t[i]))
			return target_fails(call, &t[i]);
	return NULL;
}

/* A host that has settled pages ticks before it sleeps: only then it knows until when. */
static const char *wake_fails(const struct call *a)
{
	bool woken = a->tally.wake, settled = a->op->kind == SETTLE;
	u32 i;

	for (i = 0; i < nr_rivals; i++) {
		woken |= rivals[i].call.tally.wake;
		settled |= rivals[i].op->kind == SETTLE;
	}
	if (settled)
		engine_tick(engine, now_ms);
	for (i = 0; i < SECTIONS; i++)
		if (section(i)->live && engine->map.idle && !woken)
			return "the map is live and idle, and nobody was woken";
	return NULL;
}

/* What B left, let alone until now by all but an ideal sweep. */
static const char *aged_fail(const struct rival *b)
{
	struct view view;
	u32 i;

	look(&view);
	for (i = 0; i < TRACKED; i++) {
		struct phi_clock clock = { .epoch = b->epoch, .threshold = THRESHOLD };
		u32 raw = phi_age(engine->map.layout, b->records[i], &clock);
		struct phi want;

		while (clock.epoch != engine->map.epoch) {
			clock.epoch++;
			raw = phi_age(engine->map.layout, raw, &clock);
		}
		want = phi_look(engine->map.layout, raw, &clock);
		if (!same(&view.pages[i], &want))
			return "a page is not as B left it, aged";
	}
	return NULL;
}

static u32 age_of(const struct phi *p)
{
	return p->heat || p->hold ? p->age : PHI_EPOCHS;
}

/*
 * As after one of the orders, but for the age, which may lie between theirs: while nothing is live
 * time stands still, and a record whose live bit is yet to be set cannot keep it going.
 */
static bool in_order(const struct orders *orders, u32 at, const struct phi *p)
{
	u32 least = ~0u, most = 0, age, i;
	bool found = false;
	struct phi q;

	for (i = 0; i < orders->nr; i++) {
		q = orders->views[i].pages[at];
		age = age_of(&q);
		least = age < least ? age : least;
		most = age > most ? age : most;
		q.age = p->age;
		found |= same(p, &q);
	}
	return found && age_of(p) >= least && age_of(p) <= most;
}

static const char *orders_fail(const struct orders *orders)
{
	struct view view;
	u32 i;

	look(&view);
	for (i = 0; i < TRACKED; i++)
		if (!in_order(orders, i, &view.pages[i]))
			return "a page is as no order of the operations leaves it";
	return NULL;
}

static const char *world_fails(const struct call *a, const struct orders *orders)
{
	const char *why = bits_fail();
	u32 i;

	why = why ? why : wake_fails(a);
	why = why ? why : call_fails(a);
	for (i = 0; i < nr_rivals; i++)
		why = why ? why : call_fails(&rivals[i].call);
	if (why)
		return why;
	return a->op->kind == TICK ? aged_fail(&rivals[0]) : orders_fail(orders);
}

/* ---- every point of every pair ---- */

static u64 runs, failures;

static void explain(const char *why, const struct op *a, const char *state)
{
	u32 i;

	if (failures++)
		return;
	printf("# %s\n# state: %s; A: %s, interrupted by\n", why, state, a->name);
	for (i = 0; i < nr_rivals; i++)
		printf("#   B: %s, before atomic operation %llu\n", rivals[i].op->name,
		       (unsigned long long)rivals[i].at);
	for (i = 0; i < TRACKED; i++) {
		struct phi p = hotmap_look(&engine->map, page(tracked[i]));

		printf("#   page %llu: heat %u age %u hold %u nid %d\n",
		       (unsigned long long)tracked[i], p.heat, p.age, p.hold, p.nid);
	}
}

/* Returns false if A was done before all operations B had their turn. */
static bool interrupt(const struct snapshot *start, const struct op *a, const struct orders *orders,
		      const char *state)
{
	static struct call call;
	const char *why;

	restore(start);
	steps = rivals_done = 0;
	counting = true;
	run(&call, a);
	counting = false;
	if (rivals_done < nr_rivals)
		return false;
	runs++;
	why = world_fails(&call, orders);
	if (why)
		explain(why, a, state);
	return true;
}

static void try_pair(const struct snapshot *start, const struct op *a, const struct op *b,
		     const char *state)
{
	struct orders orders;

	nr_rivals = 1;
	rivals[0].op = b;
	try_orders(&orders, start, a);
	for (rivals[0].at = 1; interrupt(start, a, &orders, state); rivals[0].at++)
		;
}

static void try_triple(const struct snapshot *start, const struct op *a, const struct op *b,
		       const struct op *c, const char *state)
{
	struct orders orders;

	nr_rivals = 2;
	rivals[0].op = b;
	rivals[1].op = c;
	try_orders(&orders, start, a);
	for (rivals[0].at = 1;; rivals[0].at++) {
		rivals[1].at = rivals[0].at;
		while (interrupt(start, a, &orders, state))
			rivals[1].at++;
		/* Not even both at once: A has no operation of this number. */
		if (rivals[1].at == rivals[0].at)
			return;
	}
}

static void try_all(enum phi_layout layout, const struct op *a)
{
	static const u8 by_nid[] = { 0, 1, 1 };
	u32 state, b, c;

	runs = failures = 0;
	for (state = 0; state < STATES; state++) {
		struct snapshot start;

		engine = fixture_open(layout, WINDOW_MS, THRESHOLD, SECTIONS);
		engine_route(engine, by_nid, 3, 1);
		now_ms = 0;
		engine_tick(engine, now_ms);
		states[state].build();
		save(&start);
		for (b = 0; b < OPS; b++) {
			if (a->kind != RECORD && ops[b].kind != RECORD)
				continue;
			try_pair(&start, a, &ops[b], states[state].name);
			for (c = 0; a->kind == RECORD && a->in_pairs && c < OPS; c++)
				if (ops[b].in_pairs && ops[c].in_pairs)
					try_triple(&start, a, &ops[b], &ops[c], states[state].name);
		}
		fixture_close(engine);
	}
	ok(!failures && runs, "%s: %s, interrupted in %llu ways", layout_name(layout), a->name,
	   (unsigned long long)runs);
	if (failures)
		printf("#   %llu of them fail; the first is shown above\n",
		       (unsigned long long)failures);
}

int main(void)
{
	enum phi_layout layout;
	u32 a;

	for (layout = PHI_BYTE; layout <= PHI_PRECISE; layout++)
		for (a = 0; a < OPS; a++)
			try_all(layout, &ops[a]);
	return done();
}
