#include "app/look/display_text.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace app {
namespace {

std::string shortOf(std::string_view name)
{
    return shortName(name).toStdString();
}

TEST(ShortName, OfATensKernelIsItsOperation)
{
    EXPECT_EQ(shortOf("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<long>, "
                      "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<long>, std::array<char*, 3ul>)"),
              "add (vectorized)");
    EXPECT_EQ(shortOf("void at::native::vectorized_elementwise_kernel<4, "
                      "at::native::BUnaryFunctor<at::native::AddFunctor<long> >, at::detail::Array<char*, 2> >(int)"),
              "add (vectorized)");
    EXPECT_EQ(shortOf("void at::native::vectorized_elementwise_kernel<2, at::native::AUnaryFunctor<int, int, bool, "
                      "at::native::(anonymous namespace)::CompareEqFunctor<int> >, at::detail::Array<char*, 2> >(int)"),
              "compare_eq (vectorized)");
    EXPECT_EQ(shortOf("void at::native::vectorized_elementwise_kernel<(int)4, void "
                      "at::native::<unnamed>::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase &, "
                      "T2)::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)"),
              "pow_tensor_scalar (vectorized)");
    EXPECT_EQ(shortOf("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
                      "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >(at::native::ReduceOp<"
                      "float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4>)"),
              "mean (reduce)");
    EXPECT_EQ(shortOf("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                      "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpScalarFunctor_<"
                      "float, 2, 1, 1>, std::multiplies<float>, float>(int)"),
              "multiplies (multi-tensor)");
}

TEST(ShortName, OfAnotherKernelIsItsFunction)
{
    EXPECT_EQ(shortOf("void cudnn::cnn::wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int, int)"),
              "wgrad_alg0_engine");
    EXPECT_EQ(shortOf("void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3, float, int>(float)"),
              "conv_depthwise2d_forward_kernel");
    EXPECT_EQ(shortOf("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1>("
                      "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1::Params)"),
              "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1");
    EXPECT_EQ(
        shortOf("fmha_cutlassF_f16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<true>::Params)"),
        "fmha_cutlassF_f16_aligned_64x128_rf_sm80");
    EXPECT_EQ(shortOf("ampere_sgemm_32x32_sliced1x4_nn"), "ampere_sgemm_32x32_sliced1x4_nn");
    EXPECT_EQ(shortOf("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)"),
              "ncclDevKernel_SendRecv");
}

TEST(ShortName, OfHostSlicesIsTheirOwnPart)
{
    EXPECT_EQ(shortOf("aten::convolution_backward"), "convolution_backward");
    EXPECT_EQ(shortOf("/home/me/net.py(12): forward"), "forward (net.py:12)");
    EXPECT_EQ(shortOf("nn.Module: Linear_0"), "Linear_0");
    EXPECT_EQ(shortOf("Optimizer.step#SGD.step"), "Optimizer.step#SGD.step");
    EXPECT_EQ(shortOf("cudaLaunchKernel"), "cudaLaunchKernel");
}

TEST(ShortName, OfAnUnusualTextIsTheText)
{
    for (const char* name : {"", "aten::", "my::phase (1)", "void ", "void f", "a.py(3", "void operator->(a::b)"})
        EXPECT_TRUE(shortOf(name) == name || std::string(name) == "void f") << name << " → " << shortOf(name);
    EXPECT_EQ(shortOf("void f"), "f");
}

TEST(ShortName, IsNeverEmptyOrLonger)
{
    std::ifstream names(KERNEL_NAMES);
    int count = 0;
    for (std::string line; std::getline(names, line);) {
        const std::size_t tab = line.find('\t');
        if (line.empty() || line.front() == '#' || tab == std::string::npos)
            continue;
        const std::string name = line.substr(tab + 1), label = shortOf(name);
        EXPECT_FALSE(label.empty()) << name;
        EXPECT_LE(label.size(), name.size()) << name;
        EXPECT_EQ(label.find("at::native"), std::string::npos) << label;
        ++count;
    }
    EXPECT_GT(count, 250);
}

} // namespace
} // namespace app
