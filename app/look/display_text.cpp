#include "app/look/display_text.h"

#include "profiler/analysis/python_frame.h"

#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace app {

namespace {

using namespace std::string_view_literals;

bool isPartOfName(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string without(std::string text, std::string_view part)
{
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
    return text;
}

/// A function as compilers print it: "void a::b<c>::kernel<d, e>(f)".
struct Function {
    std::string_view name;      ///< "kernel"
    std::string_view arguments; ///< "d, e"; empty if it is not a template
};

/// @return empty if the text does not look like a function of C++
std::optional<Function> functionIn(std::string_view text)
{
    int depth = 0;
    std::size_t begin = 0, end = text.size(), open = std::string_view::npos, close = std::string_view::npos;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '(' && depth == 0 && i > begin) {
            end = i; // the parameters
            break;
        }
        if (c == '<' && depth == 0)
            open = i;
        depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
        if (depth < 0)
            return std::nullopt;
        if (c == '>' && depth == 0)
            close = i;
        if (depth == 0 && (c == ' ' || c == ':')) { // the return type or a namespace ends
            begin = i + 1;
            open = close = std::string_view::npos;
        }
    }
    Function function;
    function.name = text.substr(begin, std::min(open, end) - begin);
    if (open < close && close < end)
        function.arguments = text.substr(open + 1, close - open - 1);
    if (function.name.empty() || !std::all_of(function.name.begin(), function.name.end(), isPartOfName))
        return std::nullopt;
    return function;
}

/// "CompareEq" as "compare_eq"; names with underscores or in capitals only change their case.
QString words(std::string_view name)
{
    QString text;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto isUpper = [&](std::size_t at) { return name[at] >= 'A' && name[at] <= 'Z'; };
        if (i > 0 && isUpper(i) && !isUpper(i - 1) && name[i - 1] != '_')
            text += '_';
        text += QChar(name[i]).toLower();
    }
    return text;
}

/// ATen's kernels that apply an operation, and how they do it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kGeneric{{
    {"vectorized_elementwise_kernel", "vectorized"},
    {"unrolled_elementwise_kernel", "unrolled"},
    {"elementwise_kernel", "elementwise"},
    {"legacy_elementwise_kernel", "elementwise"},
    {"elementwise_kernel_with_index", "elementwise"},
    {"vectorized_templated_elementwise_kernel", "vectorized"},
    {"unrolled_elementwise_kernel_for_multi_outputs", "unrolled"},
    {"index_elementwise_kernel", "index"},
    {"reduce_kernel", "reduce"},
    {"multi_tensor_apply_kernel", "multi-tensor"},
    {"gpu_kernel_impl", "elementwise"},
}};

/// Functors that only adapt another one, and names that say nothing about the operation.
constexpr std::array kAdapters{"AUnaryFunctor"sv,
                               "BUnaryFunctor"sv,
                               "BinaryFunctor"sv,
                               "UnaryFunctor"sv,
                               "UnaryOpFunctor"sv,
                               "BinaryOpScalarFunctor"sv,
                               "BinaryOpScalarFunctor_"sv,
                               "BinaryOpListAlphaFunctor"sv,
                               "BinaryOpListAlphaFunctor_"sv,
                               "BinaryOpScalarListFunctor"sv,
                               "PointwiseOpScalarFunctor"sv,
                               "PointwiseOpScalarListFunctor"sv,
                               "ReduceOp"sv};

/// The operation of a generic kernel, from an identifier of its template arguments; empty: it is none.
std::string_view operationIn(std::string_view identifier)
{
    for (const std::string_view adapter : kAdapters)
        if (identifier == adapter)
            return {};
    if (identifier.starts_with("CUDAFunctor_"))
        return identifier.substr("CUDAFunctor_"sv.size());
    for (const std::string_view end : {"_kernel_cuda_impl"sv, "_kernel_impl"sv, "_kernel_cuda"sv, "_functor"sv,
                                       "MathFunctor"sv, "Functor"sv, "Ops"sv})
        if (identifier.size() > end.size() && identifier.ends_with(end))
            return identifier.substr(0, identifier.size() - end.size());
    return {};
}

/// The first operation that the template arguments name; with adapters only, the operator of the standard library that
/// they apply ("std::plus").
std::string_view operationOf(std::string_view arguments)
{
    std::string_view standard;
    for (std::size_t i = 0; i < arguments.size();) {
        if (!isPartOfName(arguments[i])) {
            ++i;
            continue;
        }
        std::size_t end = i;
        while (end < arguments.size() && isPartOfName(arguments[end]))
            ++end;
        const std::string_view identifier = arguments.substr(i, end - i);
        if (const std::string_view operation = operationIn(identifier); !operation.empty())
            return operation;
        if (standard.empty() && arguments.substr(0, i).ends_with("std::") &&
            (identifier == "plus" || identifier == "minus" || identifier == "multiplies" || identifier == "divides"))
            standard = identifier;
        i = end;
    }
    return standard;
}

QString kernelName(std::string_view name)
{
    const std::string text =
        without(without(without(std::string(name), "(anonymous namespace)::"), "<unnamed>::"), "(int)");
    const auto function = functionIn(text);
    if (!function)
        return asQString(name);
    for (const auto& [generic, how] : kGeneric)
        if (function->name == generic)
            if (const std::string_view operation = operationOf(function->arguments); !operation.empty())
                return QStringLiteral("%1 (%2)").arg(words(operation), asQString(how));
    if ((function->name == "Kernel" || function->name == "Kernel2") && function->arguments.find("cutlass") == 0)
        return asQString(function->arguments);
    return asQString(function->name);
}

bool isKernel(std::string_view name)
{
    return name.starts_with("void ") ||
           (name.ends_with(')') && (name.starts_with("nccl") || name.find("::") != std::string_view::npos));
}

} // namespace

QString formatCounted(std::int64_t count, const QString& one, const QString& many)
{
    return formatCount(count) + u' ' + (count == 1 ? one : many);
}

QString withUnitsKept(QString text)
{
    static const QRegularExpression kUnit(QStringLiteral("(?<=\\d) (?=(?:%|×|(?:[nµm]?s|min|h|[kMGT]?B(?:/s)?)\\b))"));
    return text.replace(kUnit, QString(QChar::Nbsp));
}

QString formatRatio(double ratio)
{
    return formatSignificant(ratio) + QStringLiteral(" ×");
}

QString formatRate(double perSecond, const QString& what)
{
    return formatSignificant(perSecond, kPlainCounts) + u' ' + what + QStringLiteral("/s");
}

QString formatValue(double value, const QString& unit)
{
    if (unit == QStringLiteral("bytes"))
        return formatBytes(value);
    if (unit == QStringLiteral("bytes/s"))
        return formatBytes(value) + QStringLiteral("/s");
    if (unit == QStringLiteral("share"))
        return formatShare(value);
    const QString text = formatSignificant(value, kPlainCounts);
    if (unit == QStringLiteral("1/s"))
        return text + QStringLiteral("/s");
    return unit.isEmpty() ? text : text + u' ' + unit;
}

QString shortKernelName(std::string_view name)
{
    return isKernel(name) ? kernelName(name) : asQString(name);
}

QString shortName(std::string_view name)
{
    constexpr std::string_view kModule = "nn.Module: ", kOperator = "aten::";
    if (name.starts_with(kModule))
        return asQString(name.substr(kModule.size()));
    if (name.starts_with(kOperator) && name.size() > kOperator.size())
        return asQString(name.substr(kOperator.size()));
    if (const auto frame = profiler::analysis::pythonFrame(name))
        return QStringLiteral("%1 (%2:%3)")
            .arg(asQString(frame->function), asQString(frame->file.substr(frame->file.rfind('/') + 1)), // npos + 1 is 0
                 QString::number(frame->line));
    return shortKernelName(name);
}

} // namespace app
