#include "trainer/workloads/parts/network.h"
#include "trainer/workloads/parts/residual.h"
#include "trainer/workloads/workload.h"

namespace trainer::workloads {

Workload resnet50()
{
    return {
        "ResNet-50",
        "The residual network of He et al. with 50 layers in bottleneck blocks; images under 64 px get the stem for "
        "small images. small has the published width.",
        {data::DataKind::Images},
        [](const ModelOptions& options) {
            return makeResidualNetwork(options, {3, 4, 6, 3}, true);
        }};
}

} // namespace trainer::workloads
