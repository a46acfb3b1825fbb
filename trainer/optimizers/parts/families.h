#pragma once

#include "trainer/optimizers/optimizer.h"

/// Functions that create the optimizers. Separate from the registry's files, which then need no LibTorch header.
namespace trainer::optimizers {

using Parameters = std::vector<at::Tensor>;

/// g ← g + λw; v ← μv + g; w ← w − η·v, or with Nesterov w ← w − η·(g + μv). As torch.optim.SGD.
std::unique_ptr<Optimizer> makeSgd(Parameters parameters, const OptimizerOptions& options);
/// Kingma and Ba 2014; weight decay as L2. As torch.optim.Adam.
std::unique_ptr<Optimizer> makeAdam(Parameters parameters, const OptimizerOptions& options);
/// Loshchilov and Hutter 2017: decoupled weight decay. As torch.optim.AdamW.
std::unique_ptr<Optimizer> makeAdamW(Parameters parameters, const OptimizerOptions& options);
/// You, Gitman and Ginsburg 2017, algorithm 1: λ_l = c·‖w‖ / (‖g‖ + β‖w‖); v ← μv + ηλ_l·(g + βw); w ← w − v.
std::unique_ptr<Optimizer> makeLars(Parameters parameters, const OptimizerOptions& options);
/// You et al. 2019, algorithm 2, with φ(z) = z: u = m̂ / (√v̂ + ε) + λw; w ← w − η·(‖w‖ / ‖u‖)·u.
std::unique_ptr<Optimizer> makeLamb(Parameters parameters, const OptimizerOptions& options);
/// NVIDIA's LAMB (apex's FusedLAMB with use_nvlamb): gradients are first divided by their global norm if it is above 1,
/// and every parameter has a layer-wise rate.
std::unique_ptr<Optimizer> makeNvlamb(Parameters parameters, const OptimizerOptions& options);
/// Ginsburg et al. 2019, algorithm 1: v ← β₂v + (1 − β₂)‖g‖² per layer; m ← β₁m + (g / (√v + ε) + λw); w ← w − ηm; the
/// first step sets v = ‖g‖², m = g / ‖g‖ + λw.
std::unique_ptr<Optimizer> makeNovograd(Parameters parameters, const OptimizerOptions& options);

} // namespace trainer::optimizers
