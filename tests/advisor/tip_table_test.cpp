#include "advisor/rule.h"
#include "advisor/tips.h"
#include "trainer/config/training_config.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace advisor {
namespace {

using testing::HasSubstr;

// Every key of the tips in the documentation; further knobs may have a text as well.
constexpr std::string_view kTips[] = {"loader.workers",
                                      "loader.pin_memory",
                                      "loader.prefetch_factor",
                                      "loader.persistent_workers",
                                      "transfer.non_blocking",
                                      "tensors.create_on_device",
                                      "tensors.share_memory",
                                      "sync.every_n_steps",
                                      "augment.device",
                                      "cudnn.benchmark",
                                      "precision.tf32",
                                      "precision.amp",
                                      "memory_format",
                                      "fuse.pointwise",
                                      "attention",
                                      "model.conv_bias",
                                      "compile",
                                      "zero_grad.set_to_none",
                                      "batch.size",
                                      "batch.find_max",
                                      "optimizer.lr_scaling",
                                      "optimizer.weight_decay",
                                      "optimizer.kind",
                                      "schedule.kind",
                                      "gradient.accumulation",
                                      "gradient.clip_norm",
                                      "gradient.clip_value",
                                      "checkpointing",
                                      "eval.no_grad",
                                      "debug.anomaly",
                                      "debug.autograd_profiler",
                                      "debug.emit_nvtx",
                                      "debug.gradcheck",
                                      "debug.gradgradcheck",
                                      "parallel.kind",
                                      "work.unused",
                                      "data.normalize",
                                      "model.norm",
                                      "host.async_work"};

TEST(TipTable, HasEveryTipWithItsKnobAndItsCaveat)
{
    const std::string table = tipTable();
    for (const std::string_view key : kTips) {
        EXPECT_NE(config::findKnob(key), nullptr) << key;
        const auto row = table.find("| `" + std::string(key) + "` |");
        ASSERT_NE(row, std::string::npos) << key << " needs a text in resources/tips";
        const std::string line = table.substr(row, table.find('\n', row) - row);
        EXPECT_GT(line.substr(line.find(" | ", line.find(" | ", line.find(" | ") + 3) + 3)).size(), 20u)
            << key << " has no caveat";
    }
    for (const Rule& rule : allRules())
        EXPECT_THAT(table, HasSubstr("`" + std::string(rule.key) + "`"));
}

TEST(TipTable, OfTheRepositoryIsUpToDate)
{
    std::ifstream file(TIP_TABLE);
    std::ostringstream committed;
    committed << file.rdbuf();
    EXPECT_EQ(committed.str(), tipTable()) << "run: stepscope-cli describe --tips > resources/tips/README.md";
}

} // namespace
} // namespace advisor
