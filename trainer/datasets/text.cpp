#include "trainer/data/dataset.h"
#include "trainer/data/file_bytes.h"
#include "trainer/data/generated_folder.h"
#include "trainer/data/random.h"
#include "trainer/data/sentences.h"

#include <algorithm>
#include <fmt/format.h>

namespace trainer::datasets {

namespace {

namespace fs = std::filesystem;
using data::Split;
using profiler::Error;
using profiler::Result;

constexpr std::int64_t kVocabulary = 256;    // each byte is a token
constexpr std::int64_t kBytesPerSample = 64; // length of a generated text per sample (dataset.samples)

/// Windows of a text: its bytes as tokens, and for each the next token.
class Text final : public data::Dataset {
public:
    Text(std::string text, std::int64_t context, double validationShare) : m_text(std::move(text)), m_context(context)
    {
        m_spec.kind = data::DataKind::Tokens;
        m_spec.inputs = {{data::Dtype::Int64, {context}}};
        m_spec.target = {data::Dtype::Int64, {context}};
        m_spec.classes = kVocabulary;
        // The end of the text is for validation: random windows would share sentences with the training windows.
        m_training = static_cast<std::int64_t>(static_cast<double>(m_text.size()) * (1 - validationShare));
    }

    [[nodiscard]] const data::SampleSpec& spec() const override { return m_spec; }
    [[nodiscard]] std::int64_t size(Split split) const override
    {
        const std::int64_t tokens = split == Split::Train ? m_training : std::ssize(m_text) - m_training;
        return std::max<std::int64_t>((tokens - 1) / m_context, 0);
    }
    Result<void> load(Split split, std::int64_t index, std::uint64_t augmentSeed, const data::SampleOut& out,
                      const data::StageRecorder& stages) const override
    {
        std::int64_t first = (split == Split::Train ? 0 : m_training) + index * m_context;
        if (augmentSeed != 0) {
            const data::StageTimer timer(stages, stages.augment, index);
            data::Random random(augmentSeed);
            const std::int64_t most = std::min(m_context - 1, m_training - 1 - m_context - first);
            first += random.below(static_cast<std::uint32_t>(std::max<std::int64_t>(most, 0)) + 1);
        }
        const data::StageTimer timer(stages, stages.decode, index);
        const auto token = [](char byte) { return static_cast<std::int64_t>(static_cast<unsigned char>(byte)); };
        const auto begin = m_text.begin() + first;
        std::transform(begin, begin + m_context, out.input<std::int64_t>().begin(), token);
        std::transform(begin + 1, begin + m_context + 1, out.targets<std::int64_t>().begin(), token);
        return {};
    }

private:
    std::string m_text;
    std::int64_t m_context, m_training = 0;
    data::SampleSpec m_spec;
};

/// A file, or all *.txt files of a folder in the order of their names.
Result<std::vector<fs::path>> findTexts(const fs::path& path)
{
    std::error_code error;
    if (!fs::is_directory(path, error))
        return std::vector{path};
    std::vector<fs::path> found;
    for (fs::directory_iterator at(path, error); !error && at != fs::directory_iterator(); at.increment(error))
        if (at->path().extension() == ".txt")
            found.push_back(at->path());
    std::sort(found.begin(), found.end());
    if (found.empty())
        return profiler::fail<"dataset.text.no_file", "there is no *.txt file in the folder">(
            Error::Code::NotFound, path.string(), "set dataset.path to a text file or to a folder of text files");
    return found;
}

Result<std::string> readTexts(const fs::path& path, const data::OpenProgress& progress, const std::stop_token& stop)
{
    const auto files = findTexts(path);
    if (!files)
        return tl::unexpected(files.error());
    std::string text;
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < files->size(); ++i) {
        if (stop.stop_requested())
            return tl::unexpected(data::cancelled(path));
        if (progress)
            progress("reading text", static_cast<std::int64_t>(i), std::ssize(*files));
        if (auto read = data::readFile((*files)[i], bytes); !read)
            return tl::unexpected(read.error());
        text.append(bytes.begin(), bytes.end());
    }
    return text;
}

Result<std::shared_ptr<const data::Dataset>> open(const config::TrainingConfig& config,
                                                  const data::OpenProgress& progress, std::stop_token stop)
{
    const std::int64_t samples = config[config::key::datasetSamples], context = config[config::key::contextLength];
    const auto path = data::givenOrGenerated(
        config, fmt::format("sentences-v1-{}-samples", samples),
        [&](const fs::path& folder) {
            const std::string text = data::writeSentences(samples * kBytesPerSample);
            return data::writeFile(folder / "sentences.txt",
                                   {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
        },
        progress, stop);
    if (!path)
        return tl::unexpected(path.error());
    auto text = readTexts(*path, progress, stop);
    if (!text)
        return tl::unexpected(text.error());
    auto dataset = std::make_shared<const Text>(std::move(*text), context, config[config::key::datasetValidation]);
    if (dataset->size(Split::Train) == 0)
        return profiler::fail<"dataset.text.short", "the text is too short for a single sample of {tokens} tokens">(
            Error::Code::Invalid, path->string(), "choose a longer text or a smaller dataset.context",
            {{"tokens", context}});
    return dataset;
}

} // namespace

data::DatasetKind text()
{
    return {"Text",
            "A text file, or all *.txt files of a folder; each byte is a token. Without a path: generated sentences.",
            open};
}

} // namespace trainer::datasets
