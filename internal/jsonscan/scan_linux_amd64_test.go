package jsonscan

import (
	"strings"
	"syscall"
	"testing"
)

// The text begins or ends where the memory does.
func TestVectorsStayInsideTheText(t *testing.T) {
	needVectors(t)
	page := syscall.Getpagesize()
	memory, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(memory) }()
	for _, end := range []int{0, 2 * page} {
		if err := syscall.Mprotect(memory[end:end+page], syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := memory[page : 2*page]
	for _, fill := range []string{"x", `\n`, "é", "東"} {
		copy(inside, strings.Repeat(fill, page/len(fill)))
		for n := range page + 1 {
			scan(inside[page-n:], 0)
			scan(inside[:n], 0)
			scan(inside[:n], min(n, scanBlock/2))
		}
	}
}
