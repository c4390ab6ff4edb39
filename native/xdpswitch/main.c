/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "serving.h"
#include "switch.h"

int main(int argc, char **argv)
{
	static struct switch_options options;
	int status = switch_options(argc, argv, &options), signals;

	if (status)
		return status < 0 ? SWITCH_ENDED : status;
	signals = serving_signals();
	if (signals < 0) {
		fprintf(stderr, "nfvbed-xdp-switch: signalfd: %s\n", strerror(-signals));
		return SWITCH_FAILED;
	}
	status = switch_open(&options) ? SWITCH_FAILED : switch_serve(&options, signals);
	switch_close();
	return status;
}
