// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "base.h"
#include "clock.h"
#include "sampler.h"

/* It sleeps at least this many times as long as its last look took. */
#define REST_FACTOR	9

static void wait_until(struct sampler *s, uint64_t ns)
{
	struct timespec until = timespec_of(ns);

	while (!s->stop && pthread_cond_timedwait(&s->wake, &s->lock, &until) != ETIMEDOUT)
		;
}

uint64_t sampler_ms(const struct sampler *s)
{
	return (now_ns() - s->start_ns) / NSEC_PER_MSEC;
}

static void *sampler_main(void *arg)
{
	struct sampler *s = arg;
	uint64_t period = s->period_ms * NSEC_PER_MSEC;
	uint64_t next = s->start_ns + period;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		uint64_t begin, end, rested;

		wait_until(s, next);
		if (s->stop)
			break;
		pthread_mutex_unlock(&s->lock);
		begin = now_ns();
		s->look(s->arg, sampler_ms(s));
		end = now_ns();
		rested = end + REST_FACTOR * (end - begin);
		next += period;
		if (next < rested)
			next = rested;
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

void sampler_start(struct sampler *s)
{
	pthread_condattr_t attr;
	int err;

	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	s->start_ns = now_ns();
	err = pthread_create(&s->thread, NULL, sampler_main, s);
	if (err)
		die("cannot start the sampler thread: %s", strerror(err));
}

void sampler_stop(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
}
