#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/residual.h"
#include "trainer/workloads/workload.h"

namespace trainer::workloads {

Workload resnet18()
{
    return {"ResNet-18",
            "The residual network of He et al. with 18 layers; images under 64 px get the stem for small images. small "
            "has the published width.",
            {data::DataKind::Images},
            [](const ModelOptions& options) {
                return makeResidualNetwork(options, {2, 2, 2, 2}, false);
            }};
}

} // namespace trainer::workloads
