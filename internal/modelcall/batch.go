package modelcall

// batch is what waits to be written. It has a pooled buffer only while something waits: for most of a
// stream's life nothing does.
type batch struct{ buffer *[]byte }

func (b *batch) bytes() []byte {
	if b.buffer == nil {
		b.buffer = buffers.Get().(*[]byte)
		*b.buffer = (*b.buffer)[:0]
	}
	return *b.buffer
}

func (b *batch) set(grown []byte) { *b.buffer = grown }

// written gives up what was written, with an error or without one. HTTP/2 may return an error while
// another goroutine still reads the bytes: that buffer is not used again.
func (b *batch) written(err error) {
	if err != nil {
		b.buffer = nil
	}
	b.drop()
}

func (b *batch) drop() {
	if b.buffer != nil {
		keepBuffer(b.buffer)
		b.buffer = nil
	}
}
