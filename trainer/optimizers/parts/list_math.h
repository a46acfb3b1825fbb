#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace trainer::optimizers {

using Tensors = std::vector<at::Tensor>;

/// Arithmetic on lists of tensors, so that each formula is written once: one operator per tensor, or one for the whole
/// list (`_foreach_…`), which needs far fewer launches. Both round in the same way. In place: the first argument
/// changes.
class ListMath {
public:
    explicit ListMath(bool foreach) : m_foreach(foreach) {}

    void multiply(Tensors& a, double factor) const;
    /// a += factor · b
    void add(Tensors& a, const Tensors& b, double factor = 1) const;
    /// a += factor · b · c
    void addProduct(Tensors& a, const Tensors& b, const Tensors& c, double factor) const;
    /// a += factors[i] · b / c
    void addQuotient(Tensors& a, const Tensors& b, const Tensors& c, const std::vector<double>& factors) const;
    /// a += weight · (b − a)
    void lerp(Tensors& a, const Tensors& b, double weight) const;
    /// √a / divisors[i] + epsilon, as new tensors
    [[nodiscard]] Tensors rootPlus(const Tensors& a, const std::vector<double>& divisors, double epsilon) const;
    /// a + factor · b, as new tensors
    [[nodiscard]] Tensors sum(const Tensors& a, const Tensors& b, double factor) const;
    /// a / divisor (a scalar on the device), as new tensors
    [[nodiscard]] Tensors quotient(const Tensors& a, const at::Tensor& divisor) const;
    /// The Euclidean norm of each tensor, as scalar tensors; nothing is read back from the device.
    [[nodiscard]] Tensors norms(const Tensors& a) const;

private:
    bool m_foreach;
};

/// numerator / denominator, or 1 if one of them is 0: the trust ratio of a layer. On the device.
at::Tensor ratioOrOne(const at::Tensor& numerator, const at::Tensor& denominator);

} // namespace trainer::optimizers
