//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package caddymodule

import "os"

// terminalWidth does not know the width here: COLUMNS or the default holds.
func terminalWidth(*os.File) (width int, ok bool) { return 0, false }
