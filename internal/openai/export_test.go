package openai

// WouldRepeat reports whether an event would be sent as one that repeats the one before.
func (s *ChatStream) WouldRepeat(e *Event) bool {
	return s.before != 0 && e.repeats && e.shape == s.before
}
