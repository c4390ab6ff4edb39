/* SPDX-License-Identifier: Apache-2.0 */
/* How the engine's parts say why something failed. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "xdp.h"

int xdp_fail(struct failure *why, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
	return err < 0 ? err : -EIO;
}
