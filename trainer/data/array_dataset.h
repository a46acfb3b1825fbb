#pragma once

#include "profiler/model/result.h"
#include "trainer/data/dataset.h"
#include "trainer/data/npy_file.h"
#include "trainer/data/row_split.h"
#include "trainer/data/statistics.h"

#include <memory>

namespace trainer::data {

struct ArrayOptions {
    std::int64_t classes = 0; ///< targets are integers below this; 0: the targets are numbers
    double validationShare = 0;
    bool normalise = true;
};

/// Two arrays with matching rows. The inputs' type and dimensions determine what a sample is.
class ArrayDataset final : public Dataset {
public:
    /// Errors name the file and the shapes or types that do not match; an invalid label is reported with its row if
    /// each sample has one label. Labels of single positions are checked when a sample is loaded.
    static profiler::Result<std::shared_ptr<const Dataset>> make(NpyArray inputs, NpyArray targets,
                                                                 const ArrayOptions& options);

    [[nodiscard]] const SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override { return std::ssize(m_split.of(split)); }
    profiler::Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed, const SampleOut& out,
                                const StageRecorder& stages) const override;

private:
    ArrayDataset(NpyArray inputs, NpyArray targets, const ArrayOptions& options);
    [[nodiscard]] profiler::Result<void> describe();
    [[nodiscard]] profiler::Result<void> checkLabels() const;
    profiler::Result<void> computeStatistics();
    profiler::Result<void> loadTarget(std::int64_t row, const SampleOut& out) const;
    [[nodiscard]] profiler::Result<void> checkClass(std::int64_t value, std::int64_t row, std::int64_t most,
                                                    const NpyArray& array) const;
    void normalise(std::span<float> values) const;

    NpyArray m_inputs, m_targets;
    ArrayOptions m_options;
    RowSplit m_split;
    SampleSpec m_spec;
    bool m_byChannel = false;          ///< the features are the first dimension of a sample; otherwise the last
    Standardisation m_standardisation; ///< empty: values are not changed
};

} // namespace trainer::data
