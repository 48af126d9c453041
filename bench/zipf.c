// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>

#include "zipf.h"

/*
 * The sum of k^-exponent for the @width numbers from @first on. Of several it is the integral: buckets of
 * more than one number begin at 128, where that is as good as exact.
 */
static double weight(uint64_t first, uint64_t width, double exponent)
{
	double from = first - 0.5, to = from + width, power = 1 - exponent;

	if (width == 1)
		return pow(first, -exponent);
	if (fabs(power) < 1e-9)
		return log(to / from);
	return (pow(to, power) - pow(from, power)) / power;
}

void zipf_init(struct zipf *zipf, uint64_t nr, double exponent)
{
	double weights[LOGLIN_BUCKETS], sum = 0;
	unsigned int last = loglin_bucket(nr);

	zipf->nr = nr;
	for (unsigned int b = 1; b <= last; b++)
		sum += weights[b] = weight(loglin_first(b), zipf_width(zipf, b), exponent);
	for (unsigned int b = 1; b <= last; b++)
		zipf->share[b] = weights[b] / sum / zipf_width(zipf, b);
	pattern_weights(&zipf->buckets, weights + 1, last);
}

void zipf_free(struct zipf *zipf)
{
	pattern_free(&zipf->buckets);
}
