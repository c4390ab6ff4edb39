/* SPDX-License-Identifier: Apache-2.0 */
#include "cores.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

static int core_number(const char **cursor, long *number)
{
	char *end;

	/* strtol alone would take " 1", "+1" and "-1". */
	if (!isdigit((unsigned char)**cursor))
		return -EINVAL;
	errno = 0;
	*number = strtol(*cursor, &end, 10);
	if (errno || *number >= CPU_SETSIZE)
		return -ERANGE;
	*cursor = end;
	return 0;
}

int cores_parse(const char *list, cpu_set_t *set)
{
	const char *cursor = list;
	long first, last;
	int err;

	CPU_ZERO(set);
	for (;;) {
		err = core_number(&cursor, &first);
		if (err)
			return err;
		last = first;
		if (*cursor == '-') {
			cursor++;
			err = core_number(&cursor, &last);
			if (err)
				return err;
			if (last < first)
				return -EINVAL;
		}
		for (; first <= last; first++)
			CPU_SET(first, set);
		if (*cursor == '\0')
			return 0;
		if (*cursor++ != ',')
			return -EINVAL;
	}
}
