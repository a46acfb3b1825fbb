#include "trainer/optimizers/parts/list_math.h"

#include <ATen/ATen.h>

namespace trainer::optimizers {

namespace {

std::vector<at::Scalar> scalars(const std::vector<double>& values)
{
    return {values.begin(), values.end()};
}

} // namespace

void ListMath::multiply(Tensors& a, double factor) const
{
    if (m_foreach)
        return at::_foreach_mul_(a, factor);
    for (at::Tensor& tensor : a)
        tensor.mul_(factor);
}

void ListMath::add(Tensors& a, const Tensors& b, double factor) const
{
    if (m_foreach)
        return at::_foreach_add_(a, b, factor);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].add_(b[i], factor);
}

void ListMath::addProduct(Tensors& a, const Tensors& b, const Tensors& c, double factor) const
{
    if (m_foreach)
        return at::_foreach_addcmul_(a, b, c, factor);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].addcmul_(b[i], c[i], factor);
}

void ListMath::addQuotient(Tensors& a, const Tensors& b, const Tensors& c, const std::vector<double>& factors) const
{
    if (m_foreach)
        return at::_foreach_addcdiv_(a, b, c, scalars(factors));
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].addcdiv_(b[i], c[i], factors[i]);
}

void ListMath::lerp(Tensors& a, const Tensors& b, double weight) const
{
    if (m_foreach)
        return at::_foreach_lerp_(a, b, weight);
    for (std::size_t i = 0; i < a.size(); ++i)
        a[i].lerp_(b[i], weight);
}

Tensors ListMath::rootPlus(const Tensors& a, const std::vector<double>& divisors, double epsilon) const
{
    Tensors result;
    if (m_foreach) {
        result = at::_foreach_sqrt(a);
        at::_foreach_div_(result, scalars(divisors));
        at::_foreach_add_(result, epsilon);
        return result;
    }
    for (std::size_t i = 0; i < a.size(); ++i)
        result.push_back(a[i].sqrt().div_(divisors[i]).add_(epsilon));
    return result;
}

Tensors ListMath::sum(const Tensors& a, const Tensors& b, double factor) const
{
    if (m_foreach)
        return at::_foreach_add(a, b, factor);
    Tensors result;
    for (std::size_t i = 0; i < a.size(); ++i)
        result.push_back(a[i].add(b[i], factor));
    return result;
}

Tensors ListMath::quotient(const Tensors& a, const at::Tensor& divisor) const
{
    if (m_foreach)
        return at::_foreach_div(a, divisor);
    Tensors result;
    for (const at::Tensor& tensor : a)
        result.push_back(tensor.div(divisor));
    return result;
}

Tensors ListMath::norms(const Tensors& a) const
{
    if (m_foreach)
        return at::_foreach_norm(a, 2);
    Tensors result;
    for (const at::Tensor& tensor : a)
        result.push_back(at::linalg_vector_norm(tensor, 2));
    return result;
}

at::Tensor ratioOrOne(const at::Tensor& numerator, const at::Tensor& denominator)
{
    const at::Tensor both = numerator.gt(0).logical_and(denominator.gt(0));
    return at::where(both, numerator / denominator, at::ones_like(numerator));
}

} // namespace trainer::optimizers
