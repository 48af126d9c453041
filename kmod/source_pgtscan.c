// SPDX-License-Identifier: GPL-2.0-only
/*
 * source_pgtscan - accessed bits in the page tables of processes
 *
 * A thread, pghot_pgtscan, passes over the page tables of all processes, clears the accessed bits
 * of pages on slow nodes, and reports those that were set. It begins a round every
 * vm.pghot_pgtscan_interval_ms. In a round each process is due for one pass over its memory; they
 * take turns of a quantum, so that a large process keeps small ones waiting for moments only, and
 * one whose pass is not over when the next round begins goes on where it was. Between quanta the
 * thread sleeps as long as it takes to keep to vm.pghot_pgtscan_cpu_percent.
 *
 * A set bit says that the page was accessed since the pass before, and nothing in a first pass,
 * which therefore only clears.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/freezer.h>
#include <linux/hashtable.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "clock.h"
#include "control.h"
#include "fault.h"
#include "pgtscan.h"
#include "source.h"
#include "stat.h"

enum {
	/* A process's turn; also how long the thread works without a pause. */
	PGTSCAN_QUANTUM_US = 2000,
	/* Process numbers looked at in a round; where there are more, the next round goes on. */
	PGTSCAN_PIDS = 4096,
	/* Least time between two looks for processes. */
	PGTSCAN_FIND_MS = 1000,
	/* Tries in a round to get a process's mmap_lock, and how long to wait between two. */
	PGTSCAN_TRIES = 4,
	PGTSCAN_BUSY_US = 200,
	/*
	 * Passes after which, and pages demoted anywhere in a pass over which, it is forgotten which page
	 * tables are of fast memory: they may be no more.
	 */
	PGTSCAN_FORGET_ARRIVED = 128,
	PGTSCAN_FORGET_PASSES = 64,
};

/**
 * struct scanner - there while the source is enabled; the thread's own but for @task, @wait,
 * @kicked
 * @task: the thread
 * @wait: where it sleeps
 * @kicked: a knob has changed
 * @mms: all known memories, struct pgtscan_mm
 * @due: those whose pass in this round is not over, next one first
 * @done: the others
 * @pid: process number from which on to look for new ones
 * @find_ms: when to look for them
 * @work_ns: work since the last pause
 * @buffer: reports
 */
struct scanner {
	struct task_struct *task;
	wait_queue_head_t wait;
	bool kicked;
	DECLARE_HASHTABLE(mms, 8);
	struct list_head due;
	struct list_head done;
	int pid;
	u64 find_ms;
	u64 work_ns;
	struct pgtscan_buffer buffer;
};

static struct scanner *scanner;

static void mm_forget(struct pgtscan_mm *m)
{
	hash_del(&m->hash);
	list_del(&m->turn);
	xa_destroy(&m->huge[0]);
	xa_destroy(&m->huge[1]);
	xa_destroy(&m->fast);
	mmdrop(m->mm);
	kfree(m);
}

static struct pgtscan_mm *mm_find(struct scanner *s, struct mm_struct *mm)
{
	struct pgtscan_mm *m;

	hash_for_each_possible(s->mms, m, hash, (unsigned long)mm)
		if (m->mm == mm)
			return m;
	return NULL;
}

/*
 * A process was seen with @mm, which was grabbed, on node @nid. Without memory to note it, a later
 * round will.
 */
static void mm_seen(struct scanner *s, struct mm_struct *mm, int nid)
{
	struct pgtscan_mm *m = mm_find(s, mm);

	if (m) {
		mmdrop(mm);
	} else {
		m = fault_point() ? NULL : kzalloc(sizeof(*m), GFP_KERNEL);
		if (!m) {
			mmdrop(mm);
			return;
		}
		m->mm = mm;
		m->begun_ms = now_ms();
		xa_init(&m->huge[0]);
		xa_init(&m->huge[1]);
		xa_init(&m->fast);
		hash_add(s->mms, &m->hash, (unsigned long)mm);
		list_add_tail(&m->turn, &s->due);
	}
	m->nid = nid;
}

/*
 * The memory of the next process, grabbed, and the node where it runs or ran last; NULL if it has
 * none. It is not used by this thread as by another thread of the process: then the process would
 * leave freeing it to us when it ends. The first thread may have ended before others. *@pid moves
 * on; at the end it is 0.
 */
static struct mm_struct *next_process(int *pid, int *nid)
{
	struct task_struct *leader, *thread;
	struct mm_struct *mm = NULL;
	struct pid *next;

	rcu_read_lock();
	next = find_ge_pid(*pid, &init_pid_ns);
	*pid = next ? pid_nr(next) + 1 : 0;
	leader = next ? pid_task(next, PIDTYPE_TGID) : NULL;
	if (leader && !(leader->flags & PF_KTHREAD)) {
		for_each_thread(leader, thread) {
			task_lock(thread);
			mm = thread->mm;
			if (mm)
				mmgrab(mm);
			task_unlock(thread);
			*nid = cpu_to_node(task_cpu(thread));
			if (mm)
				break;
		}
	}
	rcu_read_unlock();
	return mm;
}

/* Sleep off what was worked, so that work is the percentage allowed. */
static void pause(struct scanner *s)
{
	unsigned int percent = knob(pgtscan_cpu_percent);
	u64 jiffies_due = nsecs_to_jiffies64(s->work_ns * (100 - percent) / percent);

	if (percent == 100) {
		s->work_ns = 0;
	} else if (jiffies_due) {
		s->work_ns = 0;
		wait_event_freezable_timeout(s->wait, kthread_should_stop(), jiffies_due);
	}
	cond_resched();
	try_to_freeze();
}

/*
 * Count work that began at @since. What took far longer than a quantum did so because others had
 * the CPU, and is no work of ours.
 */
static void worked(struct scanner *s, u64 since_ns)
{
	s->work_ns += min_t(u64, ktime_get_ns() - since_ns, 2 * PGTSCAN_QUANTUM_US * NSEC_PER_USEC);
}

static void find_processes(struct scanner *s)
{
	struct mm_struct *mm;
	int i, nid;
	u64 since_ns;

	for (i = 0; i < PGTSCAN_PIDS && !kthread_should_stop(); i++) {
		since_ns = ktime_get_ns();
		mm = next_process(&s->pid, &nid);
		if (mm)
			mm_seen(s, mm, nid);
		worked(s, since_ns);
		pause(s);
		if (!s->pid)
			break;
	}
}

/* A pass over the memory is over: what was seen in it is what the next one compares with. */
static void end_pass(struct pgtscan_mm *m)
{
	unsigned long arrived;
	u64 now = now_ms();

	stat_inc(STAT_pgtscan_passes);
	m->address = 0;
	m->pass++;
	arrived = stat_sum(STAT_pghot_arrived);
	if (m->pass % PGTSCAN_FORGET_PASSES == 0 || arrived - m->arrived > PGTSCAN_FORGET_ARRIVED)
		xa_destroy(&m->fast);
	m->arrived = arrived;
	m->primed = true;
	m->now = !m->now;
	xa_destroy(&m->huge[m->now]);
	/* A window is too short for two reports of a page: let earlier ones count in full. */
	m->flags = now - m->begun_ms > knob(promote_freq_window_ms) ? PGHOT_SKIP_RECENCY : 0;
	m->begun_ms = now;
}

/* One process's turn. */
static void take_turn(struct scanner *s, struct pgtscan_mm *m)
{
	u64 since_ns = ktime_get_ns();
	enum pgtscan_result result;

	do {
		result = pgtscan_walk(m, &s->buffer);
		cond_resched();
	} while (result == PGTSCAN_MORE && !kthread_should_stop() &&
		 ktime_get_ns() - since_ns < PGTSCAN_QUANTUM_US * NSEC_PER_USEC);
	if (result == PGTSCAN_END && knob(pgtscan_flush))
		pgtscan_flush(m);
	worked(s, since_ns);
	if (result == PGTSCAN_ENDED) {
		mm_forget(m);
		return;
	}
	if (result == PGTSCAN_END) {
		end_pass(m);
	} else if (result == PGTSCAN_BUSY) {
		usleep_range(PGTSCAN_BUSY_US, 2 * PGTSCAN_BUSY_US);
		m->misses++;
	}
	if (m->misses >= PGTSCAN_TRIES) {
		stat_inc(STAT_pgtscan_lock_busy);
		result = PGTSCAN_END;
	}
	list_move_tail(&m->turn, result == PGTSCAN_END ? &s->done : &s->due);
}

static u64 round_left_ms(u64 begun_ms)
{
	u64 end = begun_ms + knob(pgtscan_interval_ms), now = now_ms();

	return end > now ? end - now : 0;
}

static void one_round(struct scanner *s)
{
	u64 begun_ms = now_ms();
	struct pgtscan_mm *m;

	stat_inc(STAT_pgtscan_rounds);
	list_splice_tail_init(&s->done, &s->due);
	list_for_each_entry(m, &s->due, turn)
		m->misses = 0;
	if (begun_ms >= s->find_ms) {
		find_processes(s);
		s->find_ms = begun_ms + PGTSCAN_FIND_MS;
	}
	while (!list_empty(&s->due) && !kthread_should_stop()) {
		take_turn(s, list_first_entry(&s->due, struct pgtscan_mm, turn));
		pause(s);
		if (!round_left_ms(begun_ms)) {
			if (!list_empty(&s->due))
				stat_inc(STAT_pgtscan_rounds_late);
			return;
		}
	}
	while (round_left_ms(begun_ms) && !kthread_should_stop()) {
		WRITE_ONCE(s->kicked, false);
		/* Pairs with the one in pgtscan_apply(): see the knob's new value, or be kicked. */
		smp_mb();
		wait_event_freezable_timeout(s->wait,
					     READ_ONCE(s->kicked) || kthread_should_stop(),
					     msecs_to_jiffies(round_left_ms(begun_ms)));
	}
}

static int pgtscan(void *data)
{
	struct scanner *s = data;

	set_user_nice(current, MAX_NICE);
	set_freezable();
	while (!kthread_should_stop())
		one_round(s);
	return 0;
}

static int pgtscan_enable(void)
{
	struct scanner *s = fault_point() ? NULL : kvzalloc(sizeof(*s), GFP_KERNEL | __GFP_NOWARN);
	int err;

	if (!s)
		return -ENOMEM;
	init_waitqueue_head(&s->wait);
	hash_init(s->mms);
	INIT_LIST_HEAD(&s->due);
	INIT_LIST_HEAD(&s->done);
	s->task = fault_point() ? ERR_PTR(-ENOMEM) : kthread_run(pgtscan, s, "pghot_pgtscan");
	if (IS_ERR(s->task)) {
		err = PTR_ERR(s->task);
		kvfree(s);
		return err;
	}
	scanner = s;
	return 0;
}

static void pgtscan_disable(void)
{
	struct pgtscan_mm *m, *next;

	kthread_stop(scanner->task);
	list_splice_init(&scanner->done, &scanner->due);
	list_for_each_entry_safe(m, next, &scanner->due, turn)
		mm_forget(m);
	kvfree(scanner);
	scanner = NULL;
}

/*
 * The thread reads the knobs where it needs them; it may be asleep for an interval that is no
 * more.
 */
static int pgtscan_apply(void)
{
	smp_mb();
	WRITE_ONCE(scanner->kicked, true);
	wake_up(&scanner->wait);
	return 0;
}

const struct source source_pgtscan = {
	.name = "pgtscan",
	.enable = pgtscan_enable,
	.disable = pgtscan_disable,
	.apply = pgtscan_apply,
};
