// Command typecheck reports whether packages, and everything that they import, are correct Go for
// other platforms.
//
//	typecheck -dir ../.. -packages ./caddymodule,./handlers linux/386 windows/amd64
//
// It reads the source with the type checker, which finds the usual errors of another platform: a
// constant that overflows an int of 32 bits, or a name or a file that a platform lacks. It compiles
// and links nothing, because a cold build of everything takes minutes for each platform.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	dir := flag.String("dir", ".", "the folder of the module")
	packages := flag.String("packages", "./...", "the packages, separated by commas")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "typecheck: name at least one platform, such as linux/386")
		os.Exit(2)
	}
	failed := false
	for _, target := range flag.Args() {
		began := time.Now()
		n, err := check(*dir, strings.Split(*packages, ","), target)
		if err != nil {
			failed = true
			fmt.Printf("%s: %v\n", target, err)
			continue
		}
		fmt.Printf("%s: %d packages, %.0f s\n", target, n, time.Since(began).Seconds())
	}
	if failed {
		os.Exit(1)
	}
}
