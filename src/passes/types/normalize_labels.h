// Labels that a loop has by the symbol of its extent: with Options::implicit_shape_labels they are
// labels like others, without they are dropped. Those of a statement over slices end with an empty
// one: nobody wrote them, and some may be left over.
//
//     before  label "shape N"                  after  label "N"
//             for i in range(x.shape[0]):             for i in range(x.shape[0]):
//
// Before and after: kSurface. After: no label begins with kShapeLabel.
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_labels(PassContext& context);

}  // namespace parpy
