/* SPDX-License-Identifier: GPL-2.0 */
/* Each experiment is a file, exp_NAME.c; its rule and its figure stand there. */
#ifndef _FALCON_SIM_EXPS_H
#define _FALCON_SIM_EXPS_H

#include "exp.h"

extern const struct sim_exp exp_loss;
extern const struct sim_exp exp_incast;
extern const struct sim_exp exp_reorder;
extern const struct sim_exp exp_pcie;
extern const struct sim_exp exp_latency;
extern const struct sim_exp exp_oprate;
extern const struct sim_exp exp_fluid;
extern const struct sim_exp exp_recovery;
extern const struct sim_exp exp_scale;
extern const struct sim_exp exp_isolation;
extern const struct sim_exp exp_multipath;
extern const struct sim_exp exp_plb;
extern const struct sim_exp exp_engine;

#endif
