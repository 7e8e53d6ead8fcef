// SPDX-License-Identifier: GPL-2.0
/* The list of experiments, in the order of the table of results. */
#include "exps.h"

const struct sim_exp * const sim_exps[] = {
	&exp_loss,
	&exp_incast,
	&exp_reorder,
	&exp_pcie,
	&exp_latency,
	&exp_oprate,
	&exp_fluid,
	&exp_recovery,
	&exp_scale,
	&exp_isolation,
	&exp_multipath,
	&exp_plb,
	&exp_engine,
	NULL
};
