#include "trainer/data/byte_pair.h"
#include "trainer/data/file_bytes.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

// Reads the files of Hugging Face tokenizers: tokenizer.json, and the older pair vocab.json and merges.txt.
namespace trainer::data {

namespace {

using nlohmann::json;
using profiler::Error;
using profiler::Result;

constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;

Result<std::string> readText(const std::filesystem::path& path)
{
    std::vector<std::uint8_t> bytes;
    if (auto read = readFile(path, bytes); !read)
        return tl::unexpected(read.error());
    return std::string(bytes.begin(), bytes.end());
}

/// The inverse of GPT-2's bytes_to_unicode: printable Latin-1 characters represent themselves; the other bytes are
/// represented by U+0100 and up, in order.
std::optional<unsigned char> byteOf(std::uint32_t character)
{
    const auto printable = [](std::uint32_t c) {
        return (c >= 0x21 && c <= 0x7e) || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff);
    };
    if (character < 0x100)
        return printable(character) ? std::optional(static_cast<unsigned char>(character)) : std::nullopt;
    std::uint32_t next = 0x100;
    for (std::uint32_t byte = 0; byte < 0x100; ++byte)
        if (!printable(byte) && next++ == character)
            return static_cast<unsigned char>(byte);
    return std::nullopt;
}

/// A token's text as raw bytes; nullopt for a token that does not represent bytes. ("<|endoftext|>" consists of
/// printable characters only by accident, and is kept.)
std::optional<std::string> rawBytes(const std::string& token)
{
    std::string bytes;
    for (std::size_t i = 0; i < token.size();) {
        const auto first = static_cast<unsigned char>(token[i]);
        std::uint32_t character = first;
        std::size_t length = 1;
        if (first >= 0xc0 && first < 0xe0 && i + 1 < token.size()) {
            character = ((first & 0x1fU) << 6) | (static_cast<unsigned char>(token[i + 1]) & 0x3fU);
            length = 2;
        } else if (first >= 0x80) {
            return std::nullopt;
        }
        const auto byte = byteOf(character);
        if (!byte)
            return std::nullopt;
        bytes += static_cast<char>(*byte);
        i += length;
    }
    return bytes;
}

std::vector<std::array<std::string, 2>> mergesOf(std::istream& lines)
{
    std::vector<std::array<std::string, 2>> merges;
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with('\r'))
            line.pop_back();
        const auto space = line.find(' ');
        if (line.starts_with("#version") || space == std::string::npos)
            continue;
        merges.push_back({line.substr(0, space), line.substr(space + 1)});
    }
    return merges;
}

} // namespace

/// Reads a vocabulary in any of its forms.
class BytePairFile {
public:
    explicit BytePairFile(const std::filesystem::path& path) : m_path(path) {}

    Result<BytePairEncoder> read()
    {
        const auto text = readText(m_path);
        if (!text)
            return tl::unexpected(text.error());
        const json root = json::parse(*text, nullptr, false);
        if (!root.is_object())
            return wrong(profiler::message<"data.bpe.no_json", "this is not a JSON object">());
        // A vocabulary may have a token "model", with a number.
        return root.contains("model") && root["model"].is_object() ? fromTokenizer(root) : fromPair(root);
    }

private:
    [[nodiscard]] tl::unexpected<Error> wrong(profiler::Message what) const
    {
        return tl::unexpected(Error{Error::Code::Unsupported, std::move(what), m_path.string(),
                                    "choose the tokenizer.json, or the vocab.json, of a byte-level BPE tokenizer"});
    }

    Result<BytePairEncoder> fromTokenizer(const json& root)
    {
        const json& model = root["model"];
        if (model.value("type", "BPE") != "BPE" || !model.contains("vocab") || !model.contains("merges") ||
            !model["merges"].is_array())
            return wrong(profiler::message<"data.bpe.no_bpe", "its model is not BPE">());
        const std::string splitting = root.contains("pre_tokenizer") ? root["pre_tokenizer"].dump() : "";
        if (splitting.find("ByteLevel") == std::string::npos)
            return wrong(profiler::message<"data.bpe.not_byte_level", "its BPE is not byte-level">());
        std::vector<std::array<std::string, 2>> merges;
        for (const json& merge : model["merges"]) {
            if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
                merges.push_back({merge[0].get<std::string>(), merge[1].get<std::string>()});
            } else if (merge.is_string()) {
                std::istringstream line(merge.get<std::string>());
                for (auto& pair : mergesOf(line))
                    merges.push_back(std::move(pair));
            } else {
                return wrong(profiler::message<"data.bpe.no_pair", "one of its merges is not a pair">());
            }
        }
        std::int64_t added = 0;
        if (root.contains("added_tokens") && root["added_tokens"].is_array())
            for (const json& token : root["added_tokens"])
                if (token.is_object() && token.contains("id") && token["id"].is_number_unsigned())
                    added = std::max(added, token["id"].get<std::int64_t>() + 1);
        return make(model["vocab"], merges, patternOf(root["pre_tokenizer"]), added);
    }

    Result<BytePairEncoder> fromPair(const json& vocabulary)
    {
        const auto path = m_path.parent_path() / "merges.txt";
        const auto text = readText(path);
        if (!text)
            return tl::unexpected(text.error());
        std::istringstream lines(*text);
        return make(vocabulary, mergesOf(lines), std::string(kGpt2Pattern), 0);
    }

    /// The tokenizer's own pattern (GPT-4, Llama 3), otherwise GPT-2's, which ByteLevel has built in.
    static std::string patternOf(const json& splitting)
    {
        if (splitting.value("type", "") == "Split" && splitting.contains("pattern") && splitting["pattern"].is_object())
            return splitting["pattern"].value("Regex", std::string(kGpt2Pattern));
        if (splitting.contains("pretokenizers") && splitting["pretokenizers"].is_array())
            for (const json& step : splitting["pretokenizers"])
                if (step.is_object() && step.value("type", "") == "Split")
                    return patternOf(step);
        return std::string(kGpt2Pattern);
    }

    Result<BytePairEncoder> make(const json& vocabulary, std::vector<std::array<std::string, 2>> merges,
                                 const std::string& pattern, std::int64_t added)
    {
        BytePairEncoder::Vocabulary ids;
        std::int64_t size = added;
        if (!vocabulary.is_object() || vocabulary.empty())
            return wrong(profiler::message<"data.bpe.no_vocabulary", "it has no vocabulary">());
        for (const auto& [token, id] : vocabulary.items()) {
            if (!id.is_number_unsigned() || id.get<std::int64_t>() >= kMostTokens)
                return wrong(profiler::message<"data.bpe.no_id", "the id of '{token}' is invalid">({{"token", token}}));
            size = std::max(size, id.get<std::int64_t>() + 1);
            if (auto bytes = rawBytes(token))
                ids.emplace(std::move(*bytes), id.get<std::uint32_t>());
        }
        for (auto& pair : merges)
            for (std::string& token : pair)
                token = rawBytes(token).value_or(std::string());
        BytePairEncoder encoder;
        encoder.m_vocabulary = size;
        if (auto taken = encoder.take(ids, merges, pattern, m_path.string()); !taken)
            return tl::unexpected(taken.error());
        return encoder;
    }

    std::filesystem::path m_path;
};

Result<BytePairEncoder> BytePairEncoder::load(const std::filesystem::path& path)
{
    return BytePairFile(path).read();
}

} // namespace trainer::data
