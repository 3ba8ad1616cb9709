package rfb

// Credentials is the part of Negotiate inside TLS, without the TLS.
func (s *Server) Credentials(o Offer, sub SubType) (Proof, error) { return s.credentials(o, sub) }
