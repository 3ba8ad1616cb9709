package recording

// Waits returns how many bytes wait for the disk.
func (w *Writer) Waits() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending)
}
