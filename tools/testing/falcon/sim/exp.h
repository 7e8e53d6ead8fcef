/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Experiments. Each is a list of cells, independent simulations that run side
 * by side; a cell appends lines to the experiment's CSV, and when all have
 * ended the experiment judges the table by what the paper has.
 */
#ifndef _FALCON_SIM_EXP_H
#define _FALCON_SIM_EXP_H

#include <math.h>
#include <stdio.h>
#include "falcon.h"
#include "model.h"
#include "net.h"
#include "work.h"

enum sim_scale {
	SIM_SMOKE,		/* seconds, all together: does it work? */
	SIM_NORMAL,
	SIM_FULL,		/* what takes long as well */
};

extern enum sim_scale sim_scale;

struct sim_table;

/**
 * struct sim_exp - an experiment
 * @name:	of its files and on the command line
 * @title:	one line
 * @setup:	topology, RTT and windows, one line
 * @columns:	head of its CSV
 * @cells:	how many, at the scale in force
 * @run:	simulate one
 * @judge:	call sim_judge() for what the table shows, or NULL
 * @bounded:	what its largest simulation costs is judged as well: ten minutes
 *		of a processor, 8 GiB
 */
struct sim_exp {
	const char *name;
	const char *title;
	const char *setup;
	const char *columns;
	u32 (*cells)(void);
	void (*run)(u32 cell, FILE *csv);
	void (*judge)(const struct sim_table *t);
	bool bounded;
};

extern const struct sim_exp * const sim_exps[];

/* A further CSV of an experiment, of one cell: a time series, a distribution */
FILE *sim_series(const char *name, const char *columns);

/*
 * The value in @column of the line that has the given texts in the given
 * columns (pairs of strings, then NULL); NAN if there is none.
 */
double sim_value(const struct sim_table *t, const char *column, ...);

/**
 * sim_judge() - one line of the table of results
 * @what:	quantity
 * @paper:	what the paper or the target says, as text
 * @here:	measured
 * @roce:	measured of the model of RoCE; NAN: none
 * @low:	@here must be at least this
 * @high:	@here must be at most this
 */
void sim_judge(const char *what, const char *paper, double here, double roce,
	       double low, double high);

/**
 * struct sim_pair - a connection of any transport
 * @a:		one end
 * @b:		the other
 * @fa:		of Falcon, or NULL
 * @fb:		of Falcon, or NULL
 * @ma:		of a model, or NULL
 * @mb:		of a model, or NULL
 */
struct sim_pair {
	struct sim_ep *a;
	struct sim_ep *b;
	struct sim_falcon *fa;
	struct sim_falcon *fb;
	struct sim_model *ma;
	struct sim_model *mb;
};

/* Hosts of 200 Gb/s at one switch, which most experiments begin with */
#define SIM_RACK_MBPS	200000
void sim_rack(struct sim_net *net, u32 hosts, u64 rtt_ps);

/* @transport is "falcon" or the name of a model; @model may be NULL for Falcon */
void sim_open(struct sim_pair *p, const char *transport,
	      const struct falcon_core_cfg *falcon,
	      const struct sim_model_cfg *model, struct sim_host *a,
	      struct sim_host *b);

/* Retransmissions of both ends for one reason of Falcon; 0 of a model */
u64 sim_retx(const struct sim_pair *p, enum falcon_retx_reason reason);

/* The mean of @n values */
double sim_mean_of(const double *v, u32 n);

/**
 * struct sim_pace - a goodput step by step, since something happened
 * @gbps:	of each step
 * @steps:	how many
 * @smooth:	steps that are averaged
 * @step_ps:	length of a step
 */
struct sim_pace {
	const double *gbps;
	u32 steps;
	u32 smooth;
	u64 step_ps;
};

/* The first step from @from on whose average is above @gbps, in picoseconds */
u64 sim_back(const struct sim_pace *p, u32 from, double gbps);

/* Microseconds; SIM_NEVER is INFINITY */
double sim_us(u64 ps);

/**
 * struct sim_trials - what trials of one thing show together
 * @nr:		trials
 * @before:	goodputs before the change, their sum, Gb/s
 * @after:	after it
 * @relabels:	path changes since
 * @back:	sim_back() of each
 */
struct sim_trials {
	u32 nr;
	double before;
	double after;
	u64 relabels;
	struct sim_samples back;
};

#define SIM_TRIALS_COLUMNS	"before_gbps,after_gbps,p50_us,max_us,relabels"

/* These columns, without an end of the line: means, and times until it is back */
void sim_trials_print(struct sim_trials *t, FILE *csv);

/* Two lines of the table: @what, and after what time, by columns of the above */
void sim_judge_back(const char *what, double p50_us, double max_us);

/* Packets of the MTU that a round trip holds, rounded up */
u32 sim_bdp_pkts(u64 mbps, u64 rtt_ps);

/* Goodput of a link of @mbps if it sends nothing but full packets, Gb/s */
double sim_goodput_limit(u64 mbps);

#endif
