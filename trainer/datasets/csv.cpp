#include "trainer/data/csv_table.h"
#include "trainer/data/dataset.h"
#include "trainer/data/file_bytes.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/random.h"
#include "trainer/data/rows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using data::Split;
using profiler::Error;
using profiler::Result;

constexpr int kGeneratedFeatures = 16;

class Csv final : public data::Dataset {
public:
    /// @param classes  0: the target is a number
    Csv(data::CsvTable table, data::RowSplit split, std::int64_t classes, bool normalise)
        : m_table(std::move(table)), m_split(std::move(split)), m_features(m_table.features.size())
    {
        m_spec.kind = data::DataKind::Rows;
        m_spec.inputs = {{data::Dtype::Float32, {std::ssize(m_table.features)}}};
        m_spec.target = {classes > 0 ? data::Dtype::Int64 : data::Dtype::Float32, {}};
        m_spec.classes = classes;
        if (normalise)
            standardise();
    }

    [[nodiscard]] const data::SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override { return std::ssize(m_split.of(split)); }
    Result<void> load(Split split, std::int64_t index, std::uint64_t, const data::SampleOut& out,
                      const data::StageRecorder& stages) const override
    {
        // The table was parsed when the dataset was opened; a sample only needs a copy of its row.
        const data::StageTimer timer(stages, stages.read, index);
        const auto row = static_cast<std::size_t>(m_split.of(split)[static_cast<std::size_t>(index)]);
        std::copy_n(m_table.values.begin() + static_cast<std::ptrdiff_t>(row * m_features), m_features,
                    out.input<float>().begin());
        if (m_spec.classes > 0)
            out.setClass(static_cast<std::int64_t>(m_table.targets[row]));
        else
            out.targets<float>()[0] = m_table.targets[row];
        return {};
    }

private:
    /// Uses the statistics of the training rows only, because validation rows must stay unseen. Numeric targets are not
    /// changed.
    void standardise()
    {
        data::FeatureStatistics statistics(m_features);
        for (const std::int64_t row : m_split.train)
            for (std::size_t i = 0; i < m_features; ++i)
                statistics.add(i, m_table.values[static_cast<std::size_t>(row) * m_features + i]);
        const data::Standardisation standardisation = statistics.standardisation();
        for (std::size_t at = 0; at < m_table.values.size(); at += m_features)
            standardisation.apply(std::span(m_table.values).subspan(at, m_features));
    }

    data::CsvTable m_table;
    data::RowSplit m_split;
    std::size_t m_features;
    data::SampleSpec m_spec;
};

/// Points around one centre per class, with features of very different scales, as is common in tables.
Result<void> writeTable(const fs::path& folder, std::int64_t rows, std::int64_t classes, const std::stop_token& stop)
{
    std::string text;
    for (int i = 0; i < kGeneratedFeatures; ++i)
        text += fmt::format("feature_{},", i);
    text += "class\n";
    data::Random random(1);
    for (std::int64_t row = 0; row < rows; ++row) {
        if (stop.stop_requested())
            return tl::unexpected(data::cancelled(folder));
        const std::int64_t label = random.below(static_cast<std::uint32_t>(classes));
        for (int i = 0; i < kGeneratedFeatures; ++i) {
            data::Random centre(data::sampleSeed(7, i, label));
            const double scale = std::pow(10, i % 4 - 1), noise = random.real() + random.real() + random.real() - 1.5;
            text += fmt::format("{:.5g},", scale * (centre.real(-1, 1) + noise) + 3 * scale);
        }
        text += fmt::format("{}\n", label);
    }
    return data::writeFile(folder / "table.csv", {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

/// The file itself, or the only *.csv in a folder.
Result<fs::path> findTable(const fs::path& path)
{
    std::error_code error;
    if (!fs::is_directory(path, error))
        return path;
    std::vector<fs::path> found;
    for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator(); at.increment(error))
        if (at->path().extension() == ".csv")
            found.push_back(at->path());
    if (found.size() == 1)
        return found[0];
    return profiler::fail<"dataset.csv.files", "there are {count} *.csv files in the folder">(
        Error::Code::NotFound, path.string(), "set dataset.path to one of these files", {{"count", found.size()}});
}

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const std::int64_t rows = config[config::key::datasetSamples], classes = config[config::key::datasetClasses];
    const auto folder = data::givenOrGenerated(
        config, fmt::format("table-v1-{}-rows-{}-classes", rows, classes),
        [&](const fs::path& to) { return writeTable(to, rows, classes, stop); }, progress, stop);
    if (!folder)
        return tl::unexpected(folder.error());
    const auto path = findTable(*folder);
    if (!path)
        return tl::unexpected(path.error());
    std::vector<std::uint8_t> bytes;
    if (auto read = data::readFile(*path, bytes); !read)
        return tl::unexpected(read.error());
    const bool isClass = config[config::key::targetKind] == "class";
    auto table = data::parseCsv({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                {config[config::key::targetColumn], isClass ? classes : 0}, path->string());
    if (!table)
        return tl::unexpected(table.error());
    auto split = data::splitRows(table->rows(), config[config::key::datasetValidation]);
    return std::make_shared<const Csv>(std::move(*table), std::move(split), isClass ? classes : 0,
                                       config[config::key::normalize]);
}

} // namespace

data::DatasetKind csv()
{
    return {"Table (CSV)",
            "Comma-separated numbers with a header row of names; one column (dataset.target_column) is predicted from "
            "the others, as a class or as a number (dataset.target). Without a file: a generated table.",
            open};
}

} // namespace trainer::datasets
