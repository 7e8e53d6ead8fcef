// SPDX-License-Identifier: GPL-2.0
/*
 * falcon_verbs objects|states|features|modes|hostile|races DEVICE GID-INDEX: the
 * tests.
 * falcon_verbs hold DEVICE: makes one object of each kind and waits for the end
 * of its input.
 * falcon_verbs removed DEVICE GID-INDEX: works until the device goes.
 * falcon_verbs datagrams DEVICE GID-INDEX ADDRESS NUMBER [BYTES]: one to each of
 * NUMBER addresses.
 * falcon_verbs sources DEVICE 0 NETWORK ADDRESS: one from each address that the
 * device has in a /64.
 * falcon_verbs flood DEVICE GID-INDEX SILENT OTHER: many datagrams to one address,
 * and one to another.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "verbs.h"

struct ibv_context *vctx;
struct ibv_pd *vpd;
int vgid;

void vsay(const char *fmt, ...)
{
	va_list args;

	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

int vtests_run(const struct vtest *tests, size_t n)
{
	int failed = 0;
	size_t i;

	printf("TAP version 13\n1..%zu\n", n);
	for (i = 0; i < n; i++) {
		bool ok = tests[i].run();

		printf("%sok %zu %s\n", ok ? "" : "not ", i + 1, tests[i].name);
		fflush(stdout);
		failed += !ok;
	}
	return failed ? 1 : 0;
}

static bool open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			vctx = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	vpd = vctx ? ibv_alloc_pd(vctx) : NULL;
	return vpd;
}

static int hold_main(void)
{
	struct vqp v;
	char c;

	if (!vqp_open(&v, IBV_QPT_RC, 4096))
		return 1;
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	vqp_close(&v);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fputs("usage: falcon_verbs TESTS DEVICE [GID]\n"
		      "TESTS: objects, states, features, modes, hostile, races, hold,\n"
		      "removed, datagrams, sources or flood\n",
		      stderr);
		return 2;
	}
	if (!open_device(argv[2])) {
		fprintf(stderr, "falcon_verbs: cannot open %s\n", argv[2]);
		return 1;
	}
	if (argc > 3)
		vgid = atoi(argv[3]);
	if (!strcmp(argv[1], "hold"))
		return hold_main();
	if (!strcmp(argv[1], "objects"))
		return objects_main();
	if (!strcmp(argv[1], "states"))
		return states_main();
	if (!strcmp(argv[1], "features"))
		return features_main();
	if (!strcmp(argv[1], "modes"))
		return modes_main();
	if (!strcmp(argv[1], "hostile"))
		return hostile_main();
	if (!strcmp(argv[1], "races"))
		return races_main();
	if (!strcmp(argv[1], "removed"))
		return removed_main();
	if (!strcmp(argv[1], "datagrams") && argc > 5)
		return datagrams_main(argv[4], argv[5],
				      argc > 6 ? argv[6] : "0");
	if (!strcmp(argv[1], "sources") && argc > 5)
		return sources_main(argv[4], argv[5]);
	if (!strcmp(argv[1], "flood") && argc > 5)
		return flood_main(argv[4], argv[5]);
	return 2;
}
