// SPDX-License-Identifier: GPL-2.0
/*
 * falcon stat: the counters of the namespace, or of one connection, by the
 * names that the kernel gives them. falcon param: the settings.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "cli.h"

struct wanted {
	bool nonzero;
	int nr_globs;
	char **globs;
};

static bool is_wanted(const struct wanted *w, const char *name)
{
	int i;

	for (i = 0; i < w->nr_globs; i++)
		if (!fnmatch(w->globs[i], name, 0))
			return true;
	return !w->nr_globs;
}

static int stat_one(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a[FALCON_A_STAT_MAX + 1];
	const struct wanted *w = data;
	const char *name;
	unsigned long long value;

	nl_parse(nlh, a, FALCON_A_STAT_MAX);
	name = nl_str(a[FALCON_A_STAT_NAME]);
	value = nl_u64(a[FALCON_A_STAT_VALUE]);
	if ((w->nonzero && !value) || !is_wanted(w, name))
		return MNL_CB_OK;
	if (opt.json)
		json_u64(name, value);
	else
		printf("%-18s %14llu  %s\n", name, value,
		       nl_str(a[FALCON_A_STAT_HELP]));
	return MNL_CB_OK;
}

int do_stat(int argc, char **argv)
{
	struct wanted w = { 0 };
	struct nl_request req;
	int err;

	nl_begin(&req, FALCON_CMD_STAT_GET, true);
	if (argc && matches(argv[0], "show"))
		argc--, argv++;
	for (; argc && argv[0][0] == '-'; argc--, argv++) {
		if (strcmp(argv[0], "-z"))
			usage_error("stat: unknown option \"%s\"", argv[0]);
		w.nonzero = true;
	}
	if (argc && !strcmp(argv[0], "cid")) {
		if (argc < 2)
			usage_error("\"cid\" needs an argument");
		mnl_attr_put_u32(req.nlh, FALCON_A_STAT_CID,
				 parse_u32("cid", argv[1], 0xffffff));
		argc -= 2;
		argv += 2;
	}
	w.nr_globs = argc;
	w.globs = argv;
	if (opt.json)
		json_open(NULL, '{');
	err = nl_talk(&req, stat_one, &w);
	if (opt.json)
		json_close();
	return err ? EXIT_KERNEL : 0;
}

static int param_one(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *a[FALCON_A_PARAM_MAX + 1];
	const struct wanted *w = data;
	int v[4];
	const char *name;
	unsigned int i;

	nl_parse(nlh, a, FALCON_A_PARAM_MAX);
	name = nl_str(a[FALCON_A_PARAM_NAME]);
	if (!is_wanted(w, name))
		return MNL_CB_OK;
	for (i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (int)nl_u32(a[FALCON_A_PARAM_VALUE + i]);
	if (!opt.json) {
		printf("%-18s %11d  %s (default %d, %d to %d)\n", name, v[0],
		       nl_str(a[FALCON_A_PARAM_HELP]), v[1], v[2], v[3]);
		return MNL_CB_OK;
	}
	json_open(NULL, '{');
	json_str("name", name);
	json_i64("value", v[0]);
	json_i64("default", v[1]);
	json_i64("min", v[2]);
	json_i64("max", v[3]);
	json_str("help", nl_str(a[FALCON_A_PARAM_HELP]));
	json_close();
	return MNL_CB_OK;
}

int do_param(int argc, char **argv)
{
	struct wanted w = { 0 };
	struct nl_request req;
	int err;

	if (argc && matches(argv[0], "show"))
		argc--, argv++;
	w.nr_globs = argc;
	w.globs = argv;
	nl_begin(&req, FALCON_CMD_PARAM_GET, true);
	if (opt.json)
		json_open(NULL, '[');
	err = nl_talk(&req, param_one, &w);
	if (opt.json)
		json_close();
	return err ? EXIT_KERNEL : 0;
}
