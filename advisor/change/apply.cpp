#include "advisor/change/apply.h"

#include "advisor/change/base64.h"
#include "advisor/run_facts.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>

namespace advisor::change {

namespace fs = std::filesystem;
using profiler::Error;
using profiler::Result;
using Json = nlohmann::json;
using Paths = std::vector<fs::path>;

namespace {

Result<std::string> readWhole(const fs::path& path)
{
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file.is_open() || file.bad())
        return tl::unexpected(Error{Error::Code::Io, "The file cannot be read", path.string(), std::strerror(errno)});
    return bytes;
}

/// Replaces a file's contents, or makes the file, so that a reader sees either the old contents or the new ones.
Result<void> writeWhole(const fs::path& path, std::string_view bytes)
{
    std::error_code failed;
    const fs::path target = fs::exists(path, failed) ? fs::canonical(path, failed) : path; // behind links
    const fs::path partial =
        target.parent_path() / fmt::format(".{}.stepscope-{}", target.filename().string(), ::getpid());
    const auto refuse = [&](const std::string& why) -> Result<void> {
        std::error_code ignored;
        fs::remove(partial, ignored);
        return tl::unexpected(Error{Error::Code::Io, "The file cannot be written", path.string(), why});
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

/// Of FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: names files; the path inside says whose they are.
std::uint64_t hashOf(std::string_view text)
{
    std::uint64_t hash = 14695981039346656037U;
    for (const char letter : text)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    return hash;
}

struct Original {
    std::string before, after;
};

fs::path placeOf(const fs::path& file, const fs::path& originals)
{
    return originals / fmt::format("{:016x}.json", hashOf(file.string()));
}

std::optional<Original> keptOf(const fs::path& file, const fs::path& originals)
{
    const auto text = readWhole(placeOf(file, originals));
    const Json json = text ? Json::parse(*text, nullptr, false) : Json();
    if (!json.is_object() || !json.contains("path") || json["path"] != file.string())
        return std::nullopt;
    const auto before = fromBase64(json.value("before", "?")), after = fromBase64(json.value("after", "?"));
    if (!before || !after)
        return std::nullopt;
    return Original{*before, *after};
}

Result<void> keep(const PatchedFile& file, const fs::path& originals)
{
    std::error_code failed;
    fs::create_directories(originals, failed);
    fs::permissions(originals, fs::perms::owner_all, failed); // source code is its owner's
    const Json json = {
        {"path", file.path.string()}, {"before", toBase64(file.before)}, {"after", toBase64(file.after)}};
    return writeWhole(placeOf(file.path, originals), json.dump(-1, ' ', true, Json::error_handler_t::replace));
}

void forget(const fs::path& file, const fs::path& originals)
{
    std::error_code ignored;
    fs::remove(placeOf(file, originals), ignored);
}

Result<void> checkBeforeApplying(const PatchedFile& file, const fs::path& originals)
{
    const auto now = readWhole(file.path);
    if (!now)
        return tl::unexpected(now.error());
    if (*now != file.before)
        return tl::unexpected(Error{Error::Code::Invalid, "The file has changed since it was recorded",
                                    file.path.string(), "record the program again"});
    if (const auto kept = keptOf(file.path, originals); kept && kept->after == *now)
        return tl::unexpected(Error{Error::Code::Invalid, "A patch is applied to this file already", file.path.string(),
                                    "revert it first, or record the patched program"});
    return {};
}

} // namespace

Result<fs::path> defaultOriginals()
{
    const char *state = std::getenv("XDG_STATE_HOME"), *home = std::getenv("HOME");
    if (state && *state == '/')
        return fs::path(state) / "stepscope" / "patches";
    if (home && *home == '/')
        return fs::path(home) / ".local" / "state" / "stepscope" / "patches";
    return tl::unexpected(Error{Error::Code::NotFound, "There is no folder to keep the original files in",
                                "XDG_STATE_HOME", "set HOME or XDG_STATE_HOME"});
}

Result<Paths> applyPatch(const std::vector<PatchedFile>& files, const fs::path& originals)
{
    for (const PatchedFile& file : files)
        if (const auto checked = checkBeforeApplying(file, originals); !checked)
            return tl::unexpected(checked.error());
    Paths written;
    for (const PatchedFile& file : files) {
        auto done = keep(file, originals);
        if (done)
            done = writeWhole(file.path, file.after);
        if (!done) {
            forget(file.path, originals);
            for (const PatchedFile& earlier : files)
                if (std::find(written.begin(), written.end(), earlier.path) != written.end() &&
                    writeWhole(earlier.path, earlier.before))
                    forget(earlier.path, originals);
            return tl::unexpected(done.error());
        }
        written.push_back(file.path);
    }
    return written;
}

Result<Paths> revertPatch(const Paths& files, const fs::path& originals)
{
    std::vector<std::pair<fs::path, Original>> kept;
    for (const fs::path& file : files)
        if (auto original = keptOf(file, originals))
            kept.emplace_back(file, std::move(*original));
    if (kept.empty())
        return tl::unexpected(Error{Error::Code::NotFound, "No applied patch of this program is known",
                                    originals.string(), "a patch can be reverted by the user who applied it"});
    for (const auto& [file, original] : kept) {
        const auto now = readWhole(file);
        if (!now)
            return tl::unexpected(now.error());
        if (*now != original.after && *now != original.before)
            return tl::unexpected(Error{Error::Code::Invalid, "The file has changed since the patch was applied",
                                        file.string(), "take the change back by hand"});
    }
    Paths written;
    for (const auto& [file, original] : kept) {
        if (const auto done = writeWhole(file, original.before); !done)
            return tl::unexpected(done.error());
        forget(file, originals);
        written.push_back(file);
    }
    return written;
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
