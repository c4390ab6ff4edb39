/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "nfvgen.h"

int refuse(struct refusal *why, const char *code, const char *field, const char *format, ...)
{
	va_list arguments;

	why->code = code;
	snprintf(why->field, sizeof(why->field), "%s", field);
	va_start(arguments, format);
	vsnprintf(why->message, sizeof(why->message), format, arguments);
	va_end(arguments);
	return -1;
}
