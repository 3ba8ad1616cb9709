package jsonscan

import "golang.org/x/sys/cpu"

// vectors reports whether this machine has the instructions of scanAVX2.
var vectors = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// scanAVX2 checks n bytes inside a string, in blocks of 64. It returns how many belong to the string
// and are right: it stops before a block with the closing quote or a fault, and before an escape
// that continues in that block. Behind the end, the first bytes of a character may be missing their
// last ones.
//
//go:noescape
func scanAVX2(text *byte, n int) int

// scanBlock is how many bytes scanAVX2 looks at together.
const scanBlock = 64

// scanMax is how many bytes are given to scanAVX2 at a time: the runtime cannot stop a goroutine
// in it.
const scanMax = 64 << 10

// scan returns an index up to which the text inside a string is right, from i on. Both lie between
// characters.
func scan(data []byte, i int) int {
	for {
		size := min(len(data)-i, scanMax)
		if size < scanBlock {
			return i
		}
		end := i + scanAVX2(&data[i], size)
		for back := 1; back <= 3 && end-back >= i; back++ {
			if data[end-back] >= 0xc0 {
				end -= back // the character may be cut off
				break
			}
		}
		if size < scanMax || end < i+scanMax-2*scanBlock {
			return end
		}
		i = end
	}
}
