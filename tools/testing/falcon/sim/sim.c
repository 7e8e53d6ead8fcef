// SPDX-License-Identifier: GPL-2.0
/*
 * sim - runs experiments: simulations in processes of their own, as many at a
 * time as there are processors, CSV files into a directory, and a table of what
 * they show. See exp.h.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "exp.h"

#define MAX_COLUMNS	32
#define MAX_LINE	1024

struct sim_table {
	u32 nr_columns;
	u32 nr_rows;
	char *head[MAX_COLUMNS];
	char *(*row)[MAX_COLUMNS];
};

/* A cell of an experiment: a simulation; what it has cost when it has ended */
struct job {
	const struct sim_exp *exp;
	u32 cell;
	pid_t pid;
	double seconds;
	double gib;
};

enum sim_scale sim_scale = SIM_NORMAL;

static const char *out_dir = "build/sim";
static u64 seed = 1;
static int only_cell = -1;
static const struct sim_exp *current;
static FILE *verdicts;

/* ----------------------------------------------------------------- tables */

static u32 split(char *line, char *field[MAX_COLUMNS])
{
	u32 n = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && n < MAX_COLUMNS)
		field[n++] = strsep(&line, ",");
	return n;
}

static void table_read(struct sim_table *t, const char *path)
{
	FILE *in = fopen(path, "r");
	char line[MAX_LINE];

	if (!in || !fgets(line, sizeof(line), in))
		sim_die("%s: %s", path, strerror(errno));
	memset(t, 0, sizeof(*t));
	t->nr_columns = split(strdup(line), t->head);
	while (fgets(line, sizeof(line), in)) {
		t->row = realloc(t->row, (t->nr_rows + 1) * sizeof(*t->row));
		if (!t->row)
			sim_die("out of memory");
		memset(t->row[t->nr_rows], 0, sizeof(*t->row));
		split(strdup(line), t->row[t->nr_rows++]);
	}
	fclose(in);
}

static u32 table_column(const struct sim_table *t, const char *name)
{
	u32 i;

	for (i = 0; i < t->nr_columns; i++)
		if (!strcmp(t->head[i], name))
			return i;
	sim_die("no column %s", name);
}

static bool row_matches(const struct sim_table *t, u32 row, va_list ap)
{
	const char *column, *want, *have;

	while ((column = va_arg(ap, const char *))) {
		want = va_arg(ap, const char *);
		have = t->row[row][table_column(t, column)];
		if (!have || strcmp(have, want))
			return false;
	}
	return true;
}

double sim_value(const struct sim_table *t, const char *column, ...)
{
	u32 i;

	for (i = 0; i < t->nr_rows; i++) {
		va_list ap;
		bool found;

		va_start(ap, column);
		found = row_matches(t, i, ap);
		va_end(ap);
		if (found)
			return atof(t->row[i][table_column(t, column)]);
	}
	return NAN;
}

void sim_judge(const char *what, const char *paper, double here, double roce,
	       double low, double high)
{
	const char *verdict = "-";
	char model[32] = "-";

	if (isnan(here))
		return;		/* not simulated at this scale */
	if (!isnan(roce))
		snprintf(model, sizeof(model), "%.3g", roce);
	if (!isinf(low) || !isinf(high))
		verdict = here >= low && here <= high ? "reached" : "MISSED";
	fprintf(verdicts, "%s\t%s\t%s\t%.4g\t%s\t%s\n", current->name, what,
		paper, here, model, verdict);
}

/* ------------------------------------------------------------------ files */

static void path_of(char *buf, size_t size, const char *exp, const char *rest)
{
	snprintf(buf, size, "%s/%s%s", out_dir, exp, rest);
}

static FILE *create(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		sim_die("%s: %s", path, strerror(errno));
	return f;
}

static void cell_path(char *buf, size_t size, const struct job *job)
{
	snprintf(buf, size, "%s/.%s.%u", out_dir, job->exp->name, job->cell);
}

FILE *sim_series(const char *name, const char *columns)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%s.csv", out_dir, current->name,
		 name);
	f = create(path);
	fprintf(f, "%s\n", columns);
	return f;
}

/* ------------------------------------------------------------------- jobs */

static u64 cell_seed(const struct job *job)
{
	const char *s;
	u64 h = seed;

	for (s = job->exp->name; *s; s++)
		h = (h ^ *s) * 0x100000001b3ULL;
	return (h ^ job->cell) * 0x100000001b3ULL;
}

static void __noreturn job_run(const struct job *job)
{
	char path[256];
	FILE *csv;

	cell_path(path, sizeof(path), job);
	csv = create(path);
	current = job->exp;
	sim_start(cell_seed(job));
	job->exp->run(job->cell, csv);
	if (fclose(csv))
		sim_die("%s: %s", path, strerror(errno));
	if (shim_warnings)
		sim_die("%s, cell %u: core warned", job->exp->name, job->cell);
	exit(0);
}

static void job_fork(struct job *job)
{
	fflush(NULL);
	job->pid = fork();
	if (job->pid < 0)
		sim_die("fork: %s", strerror(errno));
	if (!job->pid)
		job_run(job);
}

static void job_ended(struct job *jobs, u32 n, pid_t pid, int status,
		      const struct rusage *used)
{
	u32 i;

	for (i = 0; i < n && jobs[i].pid != pid; i++)
		;
	if (i == n)
		return;
	if (status)
		sim_die("%s, cell %u failed", jobs[i].exp->name, jobs[i].cell);
	jobs[i].seconds = used->ru_utime.tv_sec + used->ru_stime.tv_sec +
			  (used->ru_utime.tv_usec + used->ru_stime.tv_usec) /
			  1e6;
	jobs[i].gib = used->ru_maxrss / 1048576.0;
}

static void progress(u32 done, u32 n, time_t began, const char *name)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%u of %u simulations, %lu s, %s%s",
			done, n, (unsigned long)(time(NULL) - began), name,
			done == n ? "\n" : "");
	else if (sim_scale != SIM_SMOKE && (done == n || !(done % 50)))
		fprintf(stderr, "%u of %u simulations, %lu s\n", done, n,
			(unsigned long)(time(NULL) - began));
}

static void jobs_run(struct job *jobs, u32 n, u32 at_a_time)
{
	time_t began = time(NULL);
	u32 next = 0, done = 0;

	while (done < n) {
		struct rusage used;
		int status;
		pid_t pid;

		while (next < n && next - done < at_a_time)
			job_fork(&jobs[next++]);
		pid = wait4(-1, &status, 0, &used);
		if (pid < 0)
			sim_die("wait: %s", strerror(errno));
		job_ended(jobs, next, pid, status, &used);
		progress(++done, n, began, jobs[next - 1].exp->name);
	}
}

/* The cells' lines, in the order of the cells, whatever ended first */
static void collect(const struct sim_exp *exp, const struct job *jobs, u32 n)
{
	char path[256], line[MAX_LINE];
	FILE *csv, *in;
	u32 i;

	path_of(path, sizeof(path), exp->name, ".csv");
	csv = create(path);
	fprintf(csv, "%s\n", exp->columns);
	for (i = 0; i < n; i++) {
		if (jobs[i].exp != exp)
			continue;
		cell_path(path, sizeof(path), &jobs[i]);
		in = fopen(path, "r");
		while (in && fgets(line, sizeof(line), in))
			fputs(line, csv);
		if (in)
			fclose(in);
		unlink(path);
	}
	fclose(csv);
}

/* No part of the CSV: that is a function of the seed */
static void judge_cost(const struct sim_exp *exp, const struct job *jobs, u32 n)
{
	double seconds = 0, gib = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		if (jobs[i].exp != exp)
			continue;
		seconds = fmax(seconds, jobs[i].seconds);
		gib = fmax(gib, jobs[i].gib);
	}
	sim_judge("longest simulation, s of a processor", "< 600", seconds, NAN,
		  0, 600);
	sim_judge("most memory of a simulation, GiB", "< 8", gib, NAN, 0, 8);
}

static void judge(const struct sim_exp *exp, const struct job *jobs, u32 n)
{
	struct sim_table t;
	char path[256];

	if (!exp->judge)
		return;
	path_of(path, sizeof(path), exp->name, ".csv");
	table_read(&t, path);
	path_of(path, sizeof(path), exp->name, ".verdicts");
	verdicts = create(path);
	current = exp;
	exp->judge(&t);
	if (exp->bounded)
		judge_cost(exp, jobs, n);
	fclose(verdicts);
}

/* ------------------------------------------------------------ the results */

#define FIELDS	6	/* experiment, and the five of the table */

static void row_text(char **f)
{
	printf("  %-52s %-22s %9s %9s  %s\n", f[1], f[2], f[3], f[4], f[5]);
}

/* A lone dash would begin a list. */
static void row_rst(char **f)
{
	u32 i;

	for (i = 1; i < FIELDS; i++) {
		fputs(i == 1 ? "   * -" : "     -", stdout);
		if (strcmp(f[i], "-"))
			printf(" %s", f[i]);
		putchar('\n');
	}
}

static char *heads[FIELDS] = {
	"", "quantity", "paper, or target", "here", "RoCE", "verdict"
};

static void head_rst(const struct sim_exp *exp)
{
	printf(".. list-table:: ``%s``: %s; %s\n", exp->name, exp->title,
	       exp->setup);
	printf("   :header-rows: 1\n   :widths: 44 20 12 12 12\n\n");
	row_rst(heads);
}

static void report_one(const struct sim_exp *exp, bool rst)
{
	char path[256], line[MAX_LINE], *field[FIELDS], *s;
	FILE *in;
	u32 i;

	path_of(path, sizeof(path), exp->name, ".verdicts");
	in = fopen(path, "r");
	if (!in)
		return;
	if (rst)
		head_rst(exp);
	else
		printf("%s: %s\n", exp->name, exp->setup);
	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		for (s = line, i = 0; i < FIELDS; i++)
			field[i] = s ? strsep(&s, "\t") : "";
		if (rst)
			row_rst(field);
		else
			row_text(field);
	}
	if (rst)
		putchar('\n');
	fclose(in);
}

static void report(bool rst)
{
	u32 i;

	if (!rst)
		row_text(heads);
	for (i = 0; sim_exps[i]; i++)
		report_one(sim_exps[i], rst);
}

/* ------------------------------------------------------------------- main */

static void __noreturn usage(int status)
{
	u32 i;

	printf("sim [-o DIR] [-s SEED] [-j JOBS] [-c CELL] [-f | -q] [-r | -R] EXPERIMENT...\n"
	       "  -f  full scale, -q  smoke test, -r  only print the table, -R  the same for a document,\n"
	       "  -c  one simulation of each experiment, by number\n"
	       "experiments (or all):\n");
	for (i = 0; sim_exps[i]; i++)
		printf("  %-12s %s\n", sim_exps[i]->name, sim_exps[i]->title);
	exit(status);
}

static bool chosen(const struct sim_exp *exp, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], exp->name) || !strcmp(names[i], "all"))
			return true;
	return false;
}

static void run_all(char **names, int n, u32 at_a_time)
{
	struct job *jobs = NULL;
	u32 nr_jobs = 0, i, k;

	for (i = 0; sim_exps[i]; i++) {
		u32 cells = sim_exps[i]->cells();

		if (!chosen(sim_exps[i], names, n))
			continue;
		jobs = realloc(jobs, (nr_jobs + cells) * sizeof(*jobs));
		if (!jobs)
			sim_die("out of memory");
		for (k = 0; k < cells; k++)
			if (only_cell < 0 || only_cell == k)
				jobs[nr_jobs++] = (struct job){
					.exp = sim_exps[i], .cell = k,
				};
	}
	if (!nr_jobs)
		usage(2);
	jobs_run(jobs, nr_jobs, at_a_time);
	for (i = 0; sim_exps[i]; i++) {
		if (!chosen(sim_exps[i], names, n))
			continue;
		collect(sim_exps[i], jobs, nr_jobs);
		judge(sim_exps[i], jobs, nr_jobs);
	}
	free(jobs);
}

int main(int argc, char **argv)
{
	u32 at_a_time = sysconf(_SC_NPROCESSORS_ONLN);
	bool only_report = false, rst = false;
	int opt;

	while ((opt = getopt(argc, argv, "o:s:j:c:fqrRh")) != -1) {
		switch (opt) {
		case 'o':
			out_dir = optarg;
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'j':
			at_a_time = max(atoi(optarg), 1);
			break;
		case 'c':
			only_cell = atoi(optarg);
			break;
		case 'f':
			sim_scale = SIM_FULL;
			break;
		case 'q':
			sim_scale = SIM_SMOKE;
			break;
		case 'r':
			only_report = true;
			break;
		case 'R':
			only_report = true;
			rst = true;
			break;
		case 'h':
			usage(0);
		default:
			usage(2);
		}
	}
	mkdir(out_dir, 0777);
	if (!only_report)
		run_all(argv + optind, argc - optind, at_a_time);
	report(rst);
	return 0;
}
