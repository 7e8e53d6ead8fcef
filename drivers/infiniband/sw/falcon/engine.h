/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the RDMA over Falcon engine keeps in each object.
 */
#ifndef _FALCON_IB_ENGINE_H
#define _FALCON_IB_ENGINE_H

#include <net/falcon.h>

struct fal_dev_eng {
};

struct fal_qp_eng {
};

struct fal_swqe_eng {
};

struct fal_ah_eng {
};

#endif /* _FALCON_IB_ENGINE_H */
