//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package terminal

import "os"

// widthOf does not know the width here: COLUMNS or the default holds.
func widthOf(*os.File) (width int, ok bool) { return 0, false }
