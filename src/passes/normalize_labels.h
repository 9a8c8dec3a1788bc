// Labels that a loop has by the symbol of its extent: with Options::implicit_shape_labels they are
// labels like others, without they are dropped.
//
//     before  label "shape N"                  after  label "N"
//             for i in range(x.shape[0]):             for i in range(x.shape[0]):
//
// Before and after: kSurface. After: no label begins with kShapeLabel.
#pragma once

#include "pass.h"

namespace parpy {

void normalize_labels(PassContext& context);

}  // namespace parpy
