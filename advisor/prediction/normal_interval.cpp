#include "advisor/prediction/normal_interval.h"

#include <cmath>

namespace advisor {

ShareInterval shareInterval(double seen, double all)
{
    const double share = seen / all, z2 = kNormalQuantile * kNormalQuantile;
    const double middle = (share + z2 / (2 * all)) / (1 + z2 / all);
    const double reach = kNormalQuantile / (1 + z2 / all) * std::sqrt(share * (1 - share) / all + z2 / (4 * all * all));
    return {middle - reach, share, middle + reach};
}

} // namespace advisor
