#include "advisor/change/apply.h"

#include "advisor/change/program_patch.h"
#include "advisor/evidence/run_facts.h"
#include "profiler/os/process.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

namespace advisor::change {

namespace {

namespace fs = std::filesystem;
using Hash = std::array<std::uint32_t, 8>;
using profiler::Error;
using profiler::Result;
using Json = nlohmann::json;
using Paths = std::vector<fs::path>;

constexpr std::uintmax_t kLargest = 16 << 20; // bytes; larger files are data

/// FIPS 180-4, section 4.2.2.
constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// FIPS 180-4, section 6.2.2.
void addBlock(Hash& hash, const unsigned char* block)
{
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
               std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const Hash added = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < hash.size(); ++i)
        hash[i] += added[i];
}

Result<std::string> readWhole(const fs::path& path)
{
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad())
        return profiler::fail<"patch.file.unreadable", "The file cannot be read">(Error::Code::Io, path.string(),
                                                                                  std::strerror(errno));
    return bytes;
}

/// Replaces or creates a file atomically: a reader sees either the old contents or the new ones.
Result<void> writeWhole(const fs::path& path, std::string_view bytes)
{
    std::error_code failed;
    const fs::path target = fs::exists(path, failed) ? fs::canonical(path, failed) : path; // follow links
    const fs::path partial =
        target.parent_path() / fmt::format(".{}.stepscope-{}", target.filename().string(), profiler::os::processId());
    const auto refuse = [&](const std::string& why) -> Result<void> {
        std::error_code ignored;
        fs::remove(partial, ignored);
        return profiler::fail<"patch.file.unwritable", "The file cannot be written">(Error::Code::Io, path.string(),
                                                                                     why);
    };
    {
        errno = 0;
        std::ofstream file(partial, std::ios::binary | std::ios::trunc);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        file.close();
        if (!file)
            return refuse(std::strerror(errno));
    }
    if (fs::exists(target, failed))
        fs::permissions(partial, fs::status(target, failed).permissions(), failed);
    if (!failed)
        fs::rename(partial, target, failed);
    return failed ? refuse(failed.message()) : Result<void>();
}

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv. Used for file names; the path inside the file identifies its
/// owner.
std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = 14695981039346656037U;
    for (const char letter : text)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    return hash;
}

/// The patch of a file for one recording.
struct Layer {
    std::string before, after;
    std::vector<WantedChange> changes; ///< all changes of the patch, including those of other files
};
/// A program may be recorded again after a patch was applied, and then get another patch. Oldest first.
using Layers = std::vector<Layer>;

fs::path placeOf(const fs::path& file, const fs::path& originals)
{
    return originals / fmt::format("{:016x}.json", hashOf(file.string()));
}

std::optional<Layer> layerOf(const Json& json)
{
    const auto before = fromBase64(json.value("before", "?")), after = fromBase64(json.value("after", "?"));
    if (!before || !after)
        return std::nullopt;
    Layer layer{*before, *after, {}};
    if (const auto changes = json.find("changes"); changes != json.end() && changes->is_array())
        for (const Json& change : *changes)
            if (change.is_object())
                layer.changes.push_back({change.value("key", ""), change.value("to", "")});
    return layer;
}

/// Empty: no patch is applied, or the saved data cannot be read.
Layers keptOf(const fs::path& file, const fs::path& originals)
{
    const auto text = readWhole(placeOf(file, originals));
    const Json json = text ? Json::parse(*text, nullptr, false) : Json();
    if (!json.is_object() || !json.contains("path") || json["path"] != file.string())
        return {};
    // Earlier versions saved a single patch, without a list.
    const Json list = json.contains("layers") ? json["layers"] : Json::array({json});
    Layers layers;
    for (const Json& one : list) {
        auto layer = one.is_object() ? layerOf(one) : std::nullopt;
        if (!layer)
            return {};
        layers.push_back(std::move(*layer));
    }
    return layers;
}

Result<void> keep(const fs::path& file, const Layers& layers, const fs::path& originals)
{
    std::error_code failed;
    fs::create_directories(originals, failed);
    fs::permissions(originals, fs::perms::owner_all, failed); // source code may be private
    Json list = Json::array();
    for (const Layer& layer : layers) {
        Json changes = Json::array();
        for (const WantedChange& change : layer.changes)
            changes.push_back({{"key", change.key}, {"to", change.to}});
        list.push_back({{"before", toBase64(layer.before)}, {"after", toBase64(layer.after)}, {"changes", changes}});
    }
    const Json json = {{"path", file.string()}, {"layers", list}};
    return writeWhole(placeOf(file, originals), json.dump(-1, ' ', true, Json::error_handler_t::replace));
}

/// Saves the layers; if there are none, the saved data is deleted.
Result<void> keepOrForget(const fs::path& file, const Layers& layers, const fs::path& originals)
{
    if (!layers.empty())
        return keep(file, layers, originals);
    std::error_code ignored;
    fs::remove(placeOf(file, originals), ignored);
    return {};
}

/// A file's next contents, and the data to save with it.
struct Writing {
    fs::path path;
    std::string now, next;
    Layers kept, keptNext;
};

/// Writes all files or none.
Result<Paths> writeAll(const std::vector<Writing>& writings, const fs::path& originals)
{
    Paths written;
    for (const Writing& one : writings) {
        // The original is saved before the file changes, and deleted after it is restored.
        Result<void> done = one.keptNext.empty() ? Result<void>() : keep(one.path, one.keptNext, originals);
        if (done)
            done = writeWhole(one.path, one.next);
        if (!done) {
            static_cast<void>(keepOrForget(one.path, one.kept, originals));
            for (std::size_t i = 0; i < written.size(); ++i)
                if (writeWhole(writings[i].path, writings[i].now))
                    static_cast<void>(keepOrForget(writings[i].path, writings[i].kept, originals));
            return tl::unexpected(done.error());
        }
        static_cast<void>(keepOrForget(one.path, one.keptNext, originals));
        written.push_back(one.path);
    }
    return written;
}

/// The changes that the files contain after the patch: the previous ones and those that it adds to the source.
std::vector<WantedChange> changesAfter(const ProgramPatch& patch)
{
    std::vector<WantedChange> all = patch.applied;
    for (const ChangeResult& change : patch.changes) {
        if (change.how != How::Source)
            continue;
        std::erase_if(all, [&](const WantedChange& other) { return other.key == change.key; });
        all.push_back({change.key, change.to});
    }
    return all;
}

bool isSame(const std::vector<WantedChange>& a, const std::vector<WantedChange>& b)
{
    return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
        return one.key == other.key && one.to == other.to;
    });
}

Result<Writing> writingOf(const PatchedFile& file, const ProgramPatch& patch, const fs::path& originals)
{
    const auto now = readWhole(file.path);
    if (!now)
        return tl::unexpected(now.error());
    Writing writing{file.path, *now, file.after, keptOf(file.path, originals), {}};
    const Layers& kept = writing.kept;
    const Layer layer{file.before, file.after, changesAfter(patch)};
    const bool isPatched = !kept.empty() && kept.back().after == *now;
    if (isPatched && kept.back().before == file.before && isSame(kept.back().changes, patch.applied)) {
        writing.keptNext = kept;
        writing.keptNext.back() = layer;
    } else if (*now == file.before) {
        writing.keptNext = isPatched ? kept : Layers();
        writing.keptNext.push_back(layer);
    } else {
        return profiler::fail<"patch.file.changed", "The file has changed since it was recorded">(
            Error::Code::Invalid, file.path.string(), "record the program again");
    }
    return writing;
}

Error notApplied(const fs::path& originals)
{
    return profiler::makeError<"patch.not_applied", "No applied patch of this program is known">(
        Error::Code::NotFound, originals.string(), "only the user who applied a patch can revert it");
}

} // namespace

std::string sha256(std::string_view bytes)
{
    constexpr std::size_t kBlock = 64;
    Hash hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    // The message is followed by a one bit, zeros, and its length in bits.
    std::string end(bytes.substr(bytes.size() / kBlock * kBlock));
    end += '\x80';
    end.append((2 * kBlock - 8 - end.size()) % kBlock, '\0');
    for (int shift = 56; shift >= 0; shift -= 8)
        end += static_cast<char>(std::uint64_t{bytes.size()} * 8 >> shift & 0xff);
    for (const std::string_view part : {bytes.substr(0, bytes.size() / kBlock * kBlock), std::string_view(end)})
        for (std::size_t at = 0; at < part.size(); at += kBlock)
            addBlock(hash, reinterpret_cast<const unsigned char*>(part.data() + at));
    std::string text;
    for (const std::uint32_t word : hash)
        text += fmt::format("{:08x}", word);
    return text;
}

std::optional<std::string> recordedText(const fs::path& file, std::string_view sha256OfRecording,
                                        const fs::path& originals)
{
    std::error_code failed;
    if (sha256OfRecording.empty() || !fs::is_regular_file(file, failed) || fs::file_size(file, failed) > kLargest ||
        failed)
        return std::nullopt;
    std::ifstream stream(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (sha256(text) == sha256OfRecording)
        return text;
    const auto applied = appliedFiles({file}, originals);
    if (!applied.empty() && sha256(applied.front().original) == sha256OfRecording)
        return applied.front().original;
    return std::nullopt;
}

std::vector<std::string> linesOfText(std::string_view text)
{
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
        lines.emplace_back(text.substr(0, end));
        const bool isCrlf = text.substr(end).starts_with("\r\n");
        text.remove_prefix(std::min(text.size(), end + (isCrlf ? 2 : 1)));
    }
    return lines;
}

Result<fs::path> defaultOriginals()
{
    const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
    if (state && *state == '/')
        return fs::path(state) / "stepscope" / "patches";
    if (home && *home == '/')
        return fs::path(home) / ".local" / "state" / "stepscope" / "patches";
    return profiler::fail<"patch.no_originals", "No folder is available to keep the original files">(
        Error::Code::NotFound, "XDG_STATE_HOME", "set HOME or XDG_STATE_HOME");
}

std::vector<AppliedFile> appliedFiles(const Paths& files, const fs::path& originals)
{
    std::vector<AppliedFile> applied;
    for (const fs::path& file : files) {
        Layers kept = keptOf(file, originals);
        auto now = kept.empty() ? Result<std::string>(std::string()) : readWhole(file);
        if (!kept.empty() && now && *now == kept.back().after)
            applied.push_back({file, std::move(kept.back().before), std::move(*now), std::move(kept.back().changes)});
    }
    return applied;
}

bool isApplied(const ProgramPatch& patch, const WantedChange& change)
{
    return std::any_of(patch.applied.begin(), patch.applied.end(),
                       [&](const WantedChange& one) { return one.key == change.key && one.to == change.to; });
}

Result<Paths> applyPatch(const ProgramPatch& patch, const fs::path& originals)
{
    std::vector<Writing> writings;
    for (const PatchedFile& file : patch.files) {
        auto writing = writingOf(file, patch, originals);
        if (!writing)
            return tl::unexpected(writing.error());
        writings.push_back(std::move(*writing));
    }
    return writeAll(writings, originals);
}

Result<Paths> revertChange(const profiler::Trace& trace, const std::string& key, PatcherOptions options)
{
    if (options.originals.empty()) {
        const auto originals = defaultOriginals();
        if (!originals)
            return tl::unexpected(originals.error());
        options.originals = *originals;
    }
    options.without = {key};
    auto patch = patchProgram(trace, {}, options);
    if (!patch)
        return tl::unexpected(patch.error());
    if (std::none_of(patch->applied.begin(), patch->applied.end(),
                     [&](const WantedChange& change) { return change.key == key; }))
        return tl::unexpected(notApplied(options.originals));
    std::vector<WantedChange> rest = patch->applied;
    std::erase_if(rest, [&](const WantedChange& change) { return change.key == key; });
    std::vector<Writing> writings;
    for (const AppliedFile& file : appliedFiles(patch->appliedFiles, options.originals)) {
        const auto next = std::find_if(patch->files.begin(), patch->files.end(),
                                       [&](const PatchedFile& other) { return other.path == file.path; });
        const bool isLast = next == patch->files.end();
        Writing writing{
            file.path, file.now, isLast ? file.original : next->after, keptOf(file.path, options.originals), {}};
        writing.keptNext = writing.kept;
        if (writing.keptNext.empty())
            continue; // another process reverted it at the same time
        writing.keptNext.pop_back();
        if (!isLast)
            writing.keptNext.push_back({file.original, next->after, rest});
        writings.push_back(std::move(writing));
    }
    return writeAll(writings, options.originals);
}

Result<Paths> revertPatch(const Paths& files, const fs::path& originals)
{
    std::vector<Writing> writings;
    for (const fs::path& file : files) {
        Layers kept = keptOf(file, originals);
        if (kept.empty())
            continue;
        const auto now = readWhole(file);
        if (!now)
            return tl::unexpected(now.error());
        if (*now != kept.back().after && *now != kept.front().before)
            return profiler::fail<"patch.file.edited", "The file has changed since the patch was applied">(
                Error::Code::Invalid, file.string(), "undo the change manually");
        std::string first = kept.front().before;
        writings.push_back({file, *now, std::move(first), std::move(kept), {}});
    }
    return writings.empty() ? Result<Paths>(tl::unexpected(notApplied(originals))) : writeAll(writings, originals);
}

Paths programFiles(const profiler::Trace& trace)
{
    Paths files;
    const Json program = Json::parse(metadata(trace, "program"), nullptr, false);
    if (program.is_object() && program.contains("files") && program["files"].is_array())
        for (const Json& file : program["files"])
            if (file.is_object() && file.contains("path") && file["path"].is_string())
                files.emplace_back(file["path"].get<std::string>());
    return files;
}

} // namespace advisor::change
