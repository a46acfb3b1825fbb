#include "profiler/formats/format.h"
#include "profiler/formats/nsys/read_export.h"
#include "profiler/formats/nsys/sqlite_file.h"

namespace profiler::formats {

namespace {

bool isReport(const std::filesystem::path& path)
{
    const auto extension = path.extension();
    return extension == ".nsys-rep" || extension == ".qdrep";
}

bool recognises(std::span<const std::byte> head, const std::filesystem::path& path)
{
    return nsys::isSqlite(head) || isReport(path);
}

Result<std::shared_ptr<const Trace>> read(const std::filesystem::path& path, const ReadOptions& options)
{
    if (isReport(path))
        return fail<"nsys.report", "Stepscope cannot read Nsight Systems reports directly">(
            Error::Code::Unsupported, path.string(),
            "export it: nsys export --type sqlite " + path.filename().string());
    return nsys::readExport(path, options);
}

} // namespace

Format nsys_sqlite()
{
    return {.title = "Nsight Systems export",
            .doc = "The SQLite file that nsys export --type sqlite writes; several processes and devices",
            .extensions = {".sqlite"},
            .recognises = recognises,
            .read = read};
}

} // namespace profiler::formats
