package openai

// Forget makes the stream take the next chunk the long way.
func (s *ChatStream) Forget() { s.last.forget() }

// Takes reports whether chunk would go the short way.
func (s *ChatStream) Takes(chunk []byte) bool {
	_, ok := s.last.apply(nil, chunk)
	return ok
}
