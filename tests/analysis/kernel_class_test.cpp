#include "profiler/analysis/device/kernel_class.h"
#include "tests/support/trace_text.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace {

using namespace profiler;
using namespace profiler::analysis;
using test_support::traceFromText;

struct Named {
    std::string_view name;
    KernelClass kernelClass;
    Precision precision;
    bool tensorCores;
};

void PrintTo(const Named& named, std::ostream* out)
{
    *out << named.name;
}

class KernelNames : public testing::TestWithParam<Named> {};

TEST_P(KernelNames, DetermineTheKernelClass)
{
    EXPECT_EQ(kernelClassName(kernelClass(GetParam().name)), kernelClassName(GetParam().kernelClass));
    EXPECT_EQ(kernelPrecision(GetParam().name), GetParam().precision);
    EXPECT_EQ(usesTensorCores(GetParam().name), GetParam().tensorCores);
}

using enum KernelClass;
INSTANTIATE_TEST_SUITE_P(
    Real, KernelNames,
    testing::Values(
        Named{"volta_sgemm_64x64_nt", Gemm, Precision::Fp32, false},
        Named{"ampere_sgemm_128x64_tn", Gemm, Precision::Fp32, false},
        Named{"volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", Gemm, Precision::Fp16, true},
        Named{"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn", Gemm, Precision::Bf16, true},
        Named{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8", Gemm, Precision::Fp32, false},
        Named{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x64x8", Gemm, Precision::Tf32, true},
        Named{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1", Gemm, Precision::Bf16,
              true},
        Named{"void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4>", Gemm, Precision::Tf32,
              true},
        Named{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>", Gemm, Precision::Fp32, false},
        Named{"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", Gemm, Precision::Unknown, true},
        Named{"void splitKreduce_kernel<32, 16, int, float, float>", Gemm, Precision::Fp32, false},
        Named{"volta_scudnn_128x64_relu_interior_nn_v1", Convolution, Precision::Fp32, false},
        Named{"volta_fp16_s884cudnn_fp16_128x64_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", Convolution, Precision::Fp16,
              true},
        Named{"turing_fp16_s1688cudnn_fp16_128x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1", Convolution, Precision::Fp16,
              true},
        Named{"ampere_fp16_s16816cudnn_fp16_128x64_ldg8_relu_f2f_exp_small_nhwc_tn_v1", Convolution, Precision::Fp16,
              true},
        Named{"ampere_scudnn_128x64_relu_xregs_large_nn_v1", Convolution, Precision::Fp32, false},
        Named{"void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*)",
              Convolution, Precision::Fp32, false},
        Named{"void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1>", Convolution, Precision::Fp32,
              false},
        Named{"sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc", Convolution, Precision::Bf16, true},
        Named{"void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>", Layout, Precision::Fp32, false},
        Named{"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>", Normalization, Precision::Fp32,
              false},
        Named{"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>",
              Normalization, Precision::Bf16, false},
        Named{"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>, cutlass::bfloat16_t>",
              Attention, Precision::Bf16, true},
        Named{"fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)", Attention,
              Precision::Fp32, false},
        Named{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::{lambda()#1}>",
              Elementwise, Precision::Unknown, false},
        Named{"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>, "
              "FusedAdamMathFunctor>",
              Optimizer, Precision::Unknown, false},
        Named{"lamb_stage_1_kernel", Optimizer, Precision::Unknown, false},
        Named{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>",
              Reduction, Precision::Fp32, false},
        Named{"void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true>", Reduction,
              Precision::Fp32, false},
        Named{"void at::native::(anonymous namespace)::CatArrayBatchedCopy<OpaqueType<2u>>", Layout, Precision::Unknown,
              false},
        Named{"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long>", Indexing,
              Precision::Bf16, false},
        Named{"void at::native::max_pool_forward_nchw<float, float>", Pooling, Precision::Fp32, false},
        Named{"triton_tem_fused_flex_attention_0", Attention, Precision::Unknown, false},
        Named{"triton_tem_fused_addmm_scaled_dot_product_flash_attention_3", Gemm, Precision::Unknown, true},
        Named{"triton_per_fused_flex_attention_softmax_2", Reduction, Precision::Unknown, false},
        Named{"triton_poi_fused_add_relu_0", Elementwise, Precision::Unknown, false},
        Named{"triton_poi_fused_convolution_relu_4", Elementwise, Precision::Unknown, false},
        Named{"triton_red_fused_convolution_backward_sum_7", Reduction, Precision::Unknown, false},
        Named{"triton_per_fused_gemm_mean_2", Reduction, Precision::Unknown, false},
        Named{"triton_tem_fused_convolution_0", Convolution, Precision::Unknown, false},
        Named{"triton_red_fused_native_layer_norm_1", Normalization, Precision::Unknown, false},
        Named{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", Communication, Precision::Fp32, false},
        Named{"cross_device_reduce_2stage", Communication, Precision::Unknown, false},
        Named{"multimem_all_reduce_kernel", Communication, Precision::Unknown, false},
        Named{"two_shot_all_reduce_kernel", Communication, Precision::Unknown, false},
        Named{"mscclKernel_Sum", Communication, Precision::Unknown, false},
        Named{"nvshmem_barrier", Communication, Precision::Unknown, false},
        Named{"Cijk_Ailk_Bljk_BBS_BH_MT64x64x64_MI16x16x16x1_SN_1LDSB0", Gemm, Precision::Bf16, true},
        Named{"Cijk_Alik_Bljk_HHS_BH_MT64x128x32_MI16x16x16x1_SN_1LDSB0", Gemm, Precision::Fp16, true},
        Named{"Cijk_Ailk_Bjlk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN", Gemm, Precision::Fp32, false},
        Named{"void ck::kernel_moe_gemm<ck::GridwiseMoeGemm<unsigned short, unsigned short, float, float>", Gemm,
              Precision::Bf16, true},
        Named{
            "_ZN2ck16tensor_operation6device39kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28GridwiseGemm_xdlES7_ttfttNS0"
            "_12element_wise11PassThroughES8_S8_",
            Convolution, Precision::Bf16, true},
        Named{"igemm_fwd_gtcx_nhwc_fp32_bx0_ex0_bt128x128x32", Convolution, Precision::Fp32, false},
        Named{"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256EEE", Normalization, Precision::Bf16, false},
        Named{"void split_embedding_codegen_forward_unweighted_kernel<float, float, float, false, long>(at::"
              "GenericPackedTensorAccessor<float>, fbgemm_gpu::Weights)",
              Indexing, Precision::Fp32, false},
        Named{"void fbgemm_gpu::_offsets_range_cuda_kernel<int>(long, long, int const*, int*)", Other,
              Precision::Unknown, false},
        Named{"triton_poi_fused__to_copy_cat_fmha_v3_fwd_mul_neg_13", Elementwise, Precision::Unknown, false},
        Named{"attn_fwd.kd", Attention, Precision::Unknown, false},
        Named{"spin_kernel", Other, Precision::Unknown, false}));

// The file says where its names come from. Lists every name that gets another class.
TEST(KernelClasses, OfRealNamesMatchTheTable)
{
    std::ifstream table(KERNEL_NAMES);
    ASSERT_TRUE(table) << KERNEL_NAMES;
    int names = 0;
    for (std::string line; std::getline(table, line);) {
        if (line.empty() || line.front() == '#')
            continue;
        const auto tab = line.find('\t');
        ASSERT_NE(tab, line.npos) << line;
        const std::string name = line.substr(tab + 1);
        EXPECT_EQ(kernelClassName(kernelClass(name)), line.substr(0, tab)) << name;
        ++names;
    }
    EXPECT_GE(names, 300);
}

// Types in template arguments and parameters, and operators next to a fused kernel, do not describe the kernel.
TEST(KernelClasses, IgnoreTypesInNames)
{
    EXPECT_EQ(kernelClass("void fill<cutlass::bfloat16_t>(cutlass::Array<float, 4>)"), Other);
    EXPECT_EQ(kernelClass("void scale(cublasGemvParams, cudnn::cnn::conv_params)"), Other);
    EXPECT_EQ(kernelClass("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64>(flash::Params)"),
              Gemm);
    EXPECT_EQ(kernelClass("void cutlass::device_kernel<flash::FlashAttnFwdSm90<cutlass::gemm::X>>()"), Attention);
    EXPECT_EQ(kernelClass("fp32_to_bf16_convert_kernel"), Other) << "a conversion is not a convolution";
    EXPECT_EQ(kernelClass("triton_poi_fused_add_all_reduce_wait_tensor_3"), Elementwise);
}

// Names of H100 and V100 traces.
TEST(TensorCoreUse, IsKnownOnlyWhereTheNameTells)
{
    EXPECT_EQ(tensorCoreUse("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute"),
              true);
    EXPECT_EQ(tensorCoreUse("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"), true);
    EXPECT_EQ(tensorCoreUse("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn"), true);
    EXPECT_EQ(tensorCoreUse("volta_sgemm_128x64_nn"), false);
    EXPECT_EQ(tensorCoreUse("void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>"), false);
    EXPECT_EQ(tensorCoreUse("attn_fwd.kd"), std::nullopt) << "neither a mark nor a type";
    EXPECT_EQ(tensorCoreUse("void at::native::vectorized_elementwise_kernel<4, float>"), std::nullopt)
        << "not a product";
    EXPECT_EQ(tensorCoreUse(""), std::nullopt);
}

TEST(PrecisionName, IsThatOfTheField)
{
    EXPECT_EQ(precisionName(kernelPrecision("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn")), "bf16");
    EXPECT_EQ(precisionName(kernelPrecision("spin_kernel")), "");
}

TEST(KernelClasses, AcceptMalformedNames)
{
    for (const char* name :
         {"", "<", ">", "(", ")", "_Z", "_ZN", "_ZN99x", "_ZN99999999999999999999999x", "a<b", "a>b"})
        EXPECT_EQ(kernelClass(name), Other) << name;
}

TEST(KernelWork, SumsByClassAndFindsProductsWithoutTensorCores)
{
    const auto trace = traceFromText(R"(
        stream 0 7
          kernel volta_sgemm_64x64_nt 0 60
          kernel ampere_bf16_s16816gemm_bf16_128x64 60 30
          kernel vectorized_elementwise_kernel 90 5
          kernel vectorized_elementwise_kernel 95 5
    )");
    const KernelWork work = kernelWork(*trace);
    EXPECT_EQ(work.all.count, 4);
    EXPECT_EQ(work.of(Gemm).count, 2);
    EXPECT_DOUBLE_EQ(work.share(Gemm), 0.9);
    EXPECT_DOUBLE_EQ(work.share(work.fullPrecisionTime), 0.6);
    EXPECT_EQ(work.under10us, 2);
    ASSERT_EQ(work.fullPrecision.size(), 1U);
    EXPECT_EQ(trace->name(trace->slice(work.fullPrecision.front())), "volta_sgemm_64x64_nt");
}

TEST(KernelWork, CountsOnlyKernelsThatStartInsideTheRanges)
{
    const auto trace = traceFromText("stream 0 7\n kernel a 0 10\n kernel b 10 10\n kernel c 30 10");
    const std::vector<TimeRange> within{{traceTime(10'000), traceTime(20'000)}, {traceTime(25'000), traceTime(31'000)}};
    EXPECT_EQ(kernelWork(*trace, within).all.count, 2);
}

TEST(KernelWork, IsAllZeroWithoutKernels)
{
    const KernelWork work = kernelWork(*traceFromText("main\n op aten::add 0 10"));
    EXPECT_EQ(work.all.count, 0);
    EXPECT_EQ(work.share(Gemm), 0);
}

} // namespace
