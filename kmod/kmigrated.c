// SPDX-License-Identifier: GPL-2.0-only
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "clock.h"
#include "control.h"
#include "fault.h"
#include "govern.h"
#include "host.h"
#include "kmigrated.h"
#include "memcg.h"
#include "mover.h"
#include "stat.h"
#include "target.h"

enum {
	/* Pages chosen by one pass. */
	KMIGRATED_PICKS = 4096,
	/* Pages of these looked up at a time, to see whether they still may move. */
	KMIGRATED_LOOK = 512,
	/* migrate_pages() unmaps a batch (in parts of 512 pages) before it moves the first page, and
	 * who touches a page of it waits. A batch that took longer than this makes the next one
	 * smaller. The first ones are small, as nobody knows yet how long they take.
	 */
	KMIGRATED_BATCH_BUDGET_US = 4000,
	KMIGRATED_BATCH_LEAST = 32,
	/* How long to wait for reclaim to make room on a full target, at first. */
	KMIGRATED_ROOM_WAIT_MS = 4,
	/* Pages looked at to find out which cgroups wait for the rate limit. */
	KMIGRATED_SAMPLE = 32,
	/* Passes without a rest through pages that have to wait, to get at those behind them. */
	KMIGRATED_HURRY = 8,
};

/**
 * struct pass - pages that were chosen, and what came of them
 * @next_tick_ms: when the engine wants the next tick, or HOTMAP_NO_DEADLINE
 * @good_until_ms: when to choose anew, whatever is left
 * @routes: of the node when they were chosen
 * @nr_targets: nodes they go to
 * @nids: these nodes
 * @targets: what each took when they were chosen; but @first and @count are the pages not tried yet
 * @allowed: pages that the rate limit allowed for each
 * @by_heat: whether its pages are to be moved hottest first
 * @by_cgroup: there are limits by cgroup, so more pages may be chosen than the rate limit allows
 * @no_room: no target had any, so none were chosen
 * @full: ready pages were left because a target is full
 * @limited: ready pages were left because of the rate limit
 * @resting: ready pages were left because their promotion does not pay
 * @spared: so, but only pages that are not hot enough
 * @more: ready pages were left although there was room and the rate limit allowed them
 * @selected: pages tried last
 * @moved: pages of these that moved
 * @waiting: pages of these that a limit of their cgroup keeps for now
 */
struct pass {
	u64 next_tick_ms;
	u64 good_until_ms;
	unsigned int routes;
	unsigned int nr_targets;
	int nids[SELECT_MAX_TARGETS];
	struct select_target targets[SELECT_MAX_TARGETS];
	u64 allowed[SELECT_MAX_TARGETS];
	bool by_heat[SELECT_MAX_TARGETS];
	bool by_cgroup;
	bool no_room;
	bool full;
	bool limited;
	bool resting;
	bool spared;
	bool more;
	unsigned int selected;
	unsigned int moved;
	unsigned int waiting;
};

/**
 * struct rhythm - what is remembered from pass to pass
 * @room_wait_ms: how long to wait for room the next time, in ms
 * @hurried: passes without a rest through pages that have to wait
 */
struct rhythm {
	u64 room_wait_ms;
	unsigned int hurried;
};

static unsigned long batch_us_max;

/** kmigrated_batch_us_max - the longest migrate_pages() call so far, in microseconds */
unsigned long kmigrated_batch_us_max(void)
{
	return READ_ONCE(batch_us_max);
}

/* The batch size for the next batch: what fits the time budget, at the speed of the last one. */
static unsigned int next_batch(unsigned int batch, const struct batch_result *res)
{
	if (res->us > KMIGRATED_BATCH_BUDGET_US)
		return clamp_t(u64, res->tried * (u64)KMIGRATED_BATCH_BUDGET_US / res->us,
			       KMIGRATED_BATCH_LEAST, BATCH_MAX);
	/* A batch of refused pages took no time, and says nothing of how long others take. */
	if (res->tried && res->selected >= batch &&
	    res->us * batch < res->tried * (u64)KMIGRATED_BATCH_BUDGET_US / 2)
		return min(batch * 2, BATCH_MAX);
	return batch;
}

static int by_pfn(const void *a, const void *b)
{
	const struct select_pick *p = a, *q = b;

	return p->pfn < q->pfn ? -1 : p->pfn > q->pfn;
}

/* The selector's level of a pick; heats of the byte layout are each a level of the precise one, too. */
static u32 level_of(const struct select_pick *pick)
{
	return select_level(PHI_PRECISE, pick->heat);
}

/* Hottest first. */
static int by_level(const void *a, const void *b)
{
	u32 p = level_of(a), q = level_of(b);

	return p != q ? (p < q) - (p > q) : by_pfn(a, b);
}

/*
 * Leave out what is not ready any more, as pages of a large folio that was dealt with since. Returns how
 * many are left.
 */
static unsigned int still_ready(struct slow_node *node, struct select_pick *picks, unsigned int n, bool take_all)
{
	u32 threshold = take_all ? 1 : knob(freq_threshold);
	unsigned int i, left = 0;
	struct phi p;

	mutex_lock(&node->lock);
	for (i = 0; i < n; i++) {
		p = hotmap_look(&node->engine.map, picks[i].pfn);
		if (phi_ready(&p, threshold))
			picks[left++] = picks[i];
	}
	mutex_unlock(&node->lock);
	return left;
}

/*
 * Move picks, sorted by pfn, batch by batch. Returns how many were dealt with: all of them, unless the
 * target is full or the thread is to stop.
 */
static unsigned int move_run(struct slow_node *node, int target, const struct select_pick *picks,
			     unsigned int n, bool take_all, struct pass *pass, bool *full)
{
	struct batch_result res;
	unsigned int done = 0, most;

	while (done < n && !kthread_should_stop()) {
		most = min(node->batch_nr, (unsigned int)knob(kmigrated_batch_nr));
		batch_move(node, target, picks + done, n - done, most, take_all, &res);
		node->batch_nr = next_batch(node->batch_nr, &res);
		done += res.taken;
		pass->selected += res.selected;
		pass->moved += res.moved;
		pass->waiting += res.waiting;
		if (res.us > READ_ONCE(batch_us_max))
			WRITE_ONCE(batch_us_max, res.us);
		pass->limited |= res.limited;
		*full |= res.full;
		if (res.full)
			break;
		cond_resched();
	}
	return done;
}

/*
 * Move what is left of target @i's picks. If all of them may move it is done in the order of addresses,
 * else by heat, a level after the other. What is left when the target is full stays. Returns whether it is.
 */
static bool move_picks(struct slow_node *node, struct pass *pass, unsigned int i)
{
	struct select_target *t = &pass->targets[i];
	struct select_pick *picks = node->picks + t->first;
	unsigned int at, end, n, done, count = t->count;
	bool by_heat = pass->by_heat[i], full = false;

	if (!target_room(pass->nids[i]))
		return count;
	for (at = 0; at < count && !kthread_should_stop(); at = end) {
		end = by_heat ? at + 1 : count;
		while (end < count && end - at < KMIGRATED_LOOK && level_of(&picks[end]) == level_of(&picks[at]))
			end++;
		n = by_heat ? still_ready(node, picks + at, end - at, t->take_all) : end - at;
		done = move_run(node, pass->nids[i], picks + at, n, t->take_all, pass, &full);
		if (done < n) {
			memmove(picks + end - n, picks + at, n * sizeof(*picks));
			at = end - n + done;
			break;
		}
	}
	t->first += at;
	t->count = count - at;
	if (t->count && !by_heat) {
		sort(node->picks + t->first, t->count, sizeof(*picks), by_level, NULL);
		pass->by_heat[i] = true;
	}
	return full;
}

/*
 * Some of the pages chosen will have to wait for their cgroup's turn, where there is less for all than
 * they could take: then choose more than the rate limit allows. It is kept in batch_move().
 */
static bool choose_more(struct select_target *t, const struct memcg_limits *limits)
{
	if (!limits->budgets && (!limits->shares || t->take_all || t->tokens >= KMIGRATED_PICKS))
		return false;
	if (t->tokens)
		t->tokens = max_t(u64, t->tokens, KMIGRATED_PICKS);
	return true;
}

/*
 * Where pages have to leave for those that come, the governor says how many may. It looks at a few more
 * without moving them. Returns whether it wants any.
 */
static bool govern_target(struct slow_node *node, struct select_target *t, struct pass *pass)
{
	u64 allowed = governor_allows(&node->engine.gov, t->room), tests = node->engine.gov.candidates.fresh;

	if (t->take_all || allowed == GOVERNOR_ALL)
		return true;
	if (allowed + tests < t->tokens)
		t->tokens = allowed + tests;
	pass->resting |= !t->tokens;
	return t->tokens;
}

/* Fill in what each target takes. Returns whether any target has room. */
static bool look_at_targets(struct slow_node *node, struct pass *pass)
{
	struct memcg_limits limits = memcg_tick();
	bool any_room = false;
	unsigned int i;

	pass->nr_targets = node->nr_targets;
	for (i = 0; i < node->nr_targets; i++) {
		struct select_target *t = &pass->targets[i];
		int nid = node->target_nids[i];

		pass->nids[i] = nid;
		target_set_depth(nid, limits.depth_ms);
		*t = (struct select_target){
			.room = target_room(nid),
			.tokens = target_tokens(nid),
			.take_all = target_is_ample(nid),
		};
		pass->allowed[i] = t->tokens;
		pass->by_cgroup |= choose_more(t, &limits);
		any_room |= govern_target(node, t, pass) && t->room;
	}
	return any_room;
}

/* Were pages left for want of room? Where more were chosen than the rate limit allows, it was that. */
static bool lacks_room(const struct select_target *t, u32 chosen, u64 allowed)
{
	if (chosen < t->room)
		return false;
	return t->tokens == allowed || t->room <= allowed;
}

/*
 * Why were ready pages of target @i left behind? @chosen: how many were chosen before the governor left some
 * out; @room: what there really is, where more were chosen ahead.
 */
static void judge(struct pass *pass, unsigned int i, u32 chosen, u64 room)
{
	const struct select_target *t = &pass->targets[i];

	if (chosen >= t->ready)
		return;
	if (lacks_room(t, chosen, pass->allowed[i])) {
		/* If the governor left out so many that the rest fit, the target is not what was in the way. */
		if (t->count > room)
			pass->full = true;
		else if (!pass->spared)
			pass->more = true;
	} else if (!t->take_all && chosen >= t->tokens && t->tokens < pass->allowed[i]) {
		pass->resting = true;
	} else if (!t->take_all && chosen >= t->tokens) {
		pass->limited = true;
	} else {
		pass->more = true;
	}
}

/*
 * Choose pages, and put some to the test. A target that has a little room will have more as reclaim makes
 * it, so more are chosen for it than it has room for, hottest first: a look through the map for each few
 * pages would cost more than moving them.
 */
static void choose_pages(struct slow_node *node, struct pass *pass)
{
	u64 room[SELECT_MAX_TARGETS];
	unsigned long ready = 0;
	unsigned int i;
	u32 chosen;

	for (i = 0; i < pass->nr_targets; i++) {
		room[i] = pass->targets[i].room;
		if (room[i])
			pass->targets[i].room = max_t(u64, room[i], KMIGRATED_PICKS);
	}
	engine_select(&node->engine, pass->targets, pass->nr_targets, node->picks, KMIGRATED_PICKS);
	for (i = 0; i < pass->nr_targets; i++) {
		struct select_target *t = &pass->targets[i];

		ready += t->ready;
		chosen = t->count;
		if (!t->take_all)
			t->count = govern_select(node, node->picks + t->first, chosen, t, room[i], &pass->spared);
		judge(pass, i, chosen, room[i]);
		pass->by_heat[i] = pass->by_cgroup || t->count > room[i];
	}
	WRITE_ONCE(node->ready_pages, ready);
}

/*
 * Which cgroups wait for the rate limit? Those whose pages are chosen, and those whose pages are not,
 * because others have hotter ones.
 */
static void look_who_waits(struct slow_node *node)
{
	u64 pfns[KMIGRATED_SAMPLE];
	unsigned int n;

	mutex_lock(&node->lock);
	n = engine_sample(&node->engine, pfns, ARRAY_SIZE(pfns));
	mutex_unlock(&node->lock);
	memcg_waits(pfns, n);
}

/* A pass begins: time passes, and pages are chosen. */
static void begin_pass(struct slow_node *node, struct pass *pass)
{
	unsigned int i;

	*pass = (struct pass){ .good_until_ms = now_ms() + knob(kmigrated_sleep_ms) };
	mutex_lock(&node->lock);
	pass->next_tick_ms = engine_tick(&node->engine, now_ms());
	govern_step(node);
	pass->routes = node->routes;
	if (look_at_targets(node, pass))
		choose_pages(node, pass);
	else if (!pass->resting)
		/* Looking through the map for nobody would only cost time, again and again. */
		pass->no_room = pass->nr_targets && hotmap_any_ready(&node->engine.map);
	pass->full |= pass->no_room;
	mutex_unlock(&node->lock);
	stat_inc(STAT_pghot_passes);
	for (i = 0; i < pass->nr_targets; i++)
		sort(node->picks + pass->targets[i].first, pass->targets[i].count, sizeof(*node->picks),
		     pass->by_heat[i] ? by_level : by_pfn, NULL);
}

/* Move what was chosen, as far as there is room. */
static void move_chosen(struct slow_node *node, struct pass *pass)
{
	unsigned int i;

	pass->selected = 0;
	pass->moved = 0;
	pass->waiting = 0;
	for (i = 0; i < pass->nr_targets; i++) {
		struct select_target *t = &pass->targets[i];
		bool full = t->count && move_picks(node, pass, i);

		pass->full |= full;
		if (full || pass->no_room || (t->ready && !target_room(pass->nids[i])))
			target_wake_reclaim(pass->nids[i]);
	}
	if ((pass->limited || pass->waiting) && memcg_on_v2())
		look_who_waits(node);
	govern_moved(node, pass->moved);
}

/*
 * Were pages chosen that are not tried yet, and is the choice good? It is not for long where there are limits by
 * cgroup, or where another target had room for more.
 */
static bool has_left(const struct slow_node *node, const struct pass *pass)
{
	unsigned int i, left = 0;

	for (i = 0; i < pass->nr_targets; i++) {
		left += pass->targets[i].count;
		if (pass->targets[i].take_all && !target_is_ample(pass->nids[i]))
			return false;
	}
	return left && !pass->by_cgroup && !pass->more && READ_ONCE(node->routes) == pass->routes &&
		now_ms() < min(pass->good_until_ms, pass->next_tick_ms);
}

static void count_pass(const struct pass *pass)
{
	if (pass->resting || pass->spared)
		stat_inc(STAT_pghot_passes_resting);
	if (pass->limited)
		stat_inc(STAT_pghot_passes_rate_limited);
	if (pass->full)
		stat_inc(STAT_pghot_passes_target_full);
}

static void one_pass(struct slow_node *node, struct pass *pass)
{
	bool goes_on = has_left(node, pass);

	if (!goes_on)
		begin_pass(node, pass);
	move_chosen(node, pass);
	if (!goes_on)
		count_pass(pass);
}

/* Are there pages left that may move at once, as far as is known? */
static bool go_on(const struct pass *pass, struct rhythm *rhythm)
{
	if (!pass->more)
		return false;
	if (!pass->waiting) {
		rhythm->hurried = 0;
		return pass->moved;
	}
	rhythm->hurried++;
	return rhythm->hurried < KMIGRATED_HURRY;
}

/* How long to sleep after a pass, in ms. */
static u64 rest_after(const struct pass *pass, struct rhythm *rhythm)
{
	u64 most = knob(kmigrated_sleep_ms), wait = HOTMAP_NO_DEADLINE, now = now_ms();

	if (pass->next_tick_ms != HOTMAP_NO_DEADLINE)
		wait = pass->next_tick_ms > now ? pass->next_tick_ms - now : 0;
	if (go_on(pass, rhythm))
		return 0;
	rhythm->hurried = 0;
	/* The governor changes its mind at ticks only. */
	if (pass->resting && !pass->moved && !pass->full)
		return wait;
	if (pass->full) {
		/* Reclaim was woken. As long as it makes room, ask again soon. */
		rhythm->room_wait_ms = pass->moved ? KMIGRATED_ROOM_WAIT_MS :
			min(rhythm->room_wait_ms * 2, most);
		return min(wait, rhythm->room_wait_ms);
	}
	/*
	 * The ready bits of areas that were picked from are still set, so new hot pages in them do
	 * not kick. Look once more: a pass that finds nothing ready clears them.
	 */
	return pass->selected || pass->limited || pass->more || pass->spared ? min(wait, most) : wait;
}

static void sleep_until_kicked(struct slow_node *node, u64 ms)
{
	long timeout = ms == HOTMAP_NO_DEADLINE ? MAX_SCHEDULE_TIMEOUT :
		       (long)msecs_to_jiffies(min_t(u64, ms, INT_MAX));

	wait_event_freezable_timeout(node->wait,
				     READ_ONCE(node->kicked) || kthread_should_stop(),
				     max(timeout, 1L));
}

/* New reports come all the time; gather those of kmigrated_sleep_ms before looking again. */
static void gather_reports(struct slow_node *node, u64 last_pass_ms)
{
	u64 due = last_pass_ms + knob(kmigrated_sleep_ms), now = now_ms();

	if (now < due)
		wait_event_freezable_timeout(node->wait, kthread_should_stop(),
					     msecs_to_jiffies(due - now));
}

static int kmigrated(void *data)
{
	struct slow_node *node = data;
	struct rhythm rhythm = { .room_wait_ms = KMIGRATED_ROOM_WAIT_MS };
	u64 last_pass_ms = 0, rest;
	struct pass pass = { 0 };

	set_freezable();
	while (!kthread_should_stop()) {
		WRITE_ONCE(node->kicked, false);
		/* Pairs with the barrier between a report and its kick: see or be kicked again. */
		smp_mb();
		one_pass(node, &pass);
		last_pass_ms = now_ms();
		rest = rest_after(&pass, &rhythm);
		if (!rest) {
			cond_resched();
			try_to_freeze();
			continue;
		}
		if (pass.full) {
			/* Kicks change nothing while there is no room. */
			wait_event_freezable_timeout(node->wait, kthread_should_stop(),
						     max(msecs_to_jiffies(rest), 1UL));
			continue;
		}
		sleep_until_kicked(node, rest);
		if (READ_ONCE(node->kicked))
			gather_reports(node, last_pass_ms);
	}
	return 0;
}

static void kmigrated_on_kick(struct irq_work *work)
{
	struct slow_node *node = container_of(work, struct slow_node, kick);

	WRITE_ONCE(node->kicked, true);
	wake_up(&node->wait);
}

/** kmigrated_kick - there is something new to do. Any context, under RCU or the control mutex. */
void kmigrated_kick(struct slow_node *node)
{
	irq_work_queue(&node->kick);
}

/**
 * kmigrated_start - create and start the thread
 * @node: routed, with its map
 *
 * It runs on the CPUs of the target that is nearest now, if that has any.
 *
 * Returns 0 or -errno; kmigrated_stop() is needed in both cases.
 */
int kmigrated_start(struct slow_node *node)
{
	int nid = node->nr_targets ? node->target_nids[0] : NUMA_NO_NODE;
	struct task_struct *task;

	init_waitqueue_head(&node->wait);
	init_irq_work(&node->kick, kmigrated_on_kick);
	node->batch_nr = KMIGRATED_BATCH_LEAST;
	node->picks = fault_point() ? NULL :
		kvcalloc(KMIGRATED_PICKS, sizeof(*node->picks), GFP_KERNEL | __GFP_NOWARN);
	node->batch = node->picks ? batch_alloc() : NULL;
	if (!node->batch)
		return -ENOMEM;
	task = fault_point() ? ERR_PTR(-ENOMEM) :
		kthread_create_on_node(kmigrated, node, nid, "kmigrated%d", node->nid);
	if (IS_ERR(task))
		return PTR_ERR(task);
	if (nid != NUMA_NO_NODE && !cpumask_empty(cpumask_of_node(nid)))
		set_cpus_allowed_ptr(task, cpumask_of_node(nid));
	node->task = task;
	wake_up_process(task);
	return 0;
}

/** kmigrated_stop - end the thread; recorders must not see the node any more */
void kmigrated_stop(struct slow_node *node)
{
	irq_work_sync(&node->kick);
	if (node->task)
		kthread_stop(node->task);
	batch_free(node->batch);
	kvfree(node->picks);
}
