package rfb

import (
	"encoding/binary"
	"slices"
)

// veNCrypt goes on behind the choice of VeNCrypt up to the credentials.
func (s *Server) veNCrypt(o Offer) (Proof, error) {
	if err := s.veNCryptVersion(); err != nil {
		return Proof{}, err
	}
	types := o.SubTypes
	if o.PasswordFirst != nil && o.PasswordFirst() {
		types = withoutPasswordLast(types)
	}
	sub, err := s.subType(types)
	if err != nil {
		return Proof{}, err
	}
	name := ""
	if s.forPerson(o); sub != Plain {
		if name, err = s.wire.startTLS(o.TLS, s.timeouts.Person); err != nil {
			return Proof{}, err
		}
	}
	proof, err := s.credentials(o, sub)
	proof.ServerName = name
	return proof, err
}

// withoutPasswordLast is types with X509None behind the others.
func withoutPasswordLast(types []SubType) []SubType {
	i := slices.Index(types, X509None)
	if i < 0 {
		return types
	}
	return append(slices.Delete(slices.Clone(types), i, i+1), X509None)
}

// veNCryptVersion offers 0.2, the only version in use.
func (s *Server) veNCryptVersion() error {
	const step = "reading the VeNCrypt version"
	s.wire.within(s.timeouts.Step)
	if err := s.wire.write("offering VeNCrypt", []byte{venCryptMajor, venCryptMinor}); err != nil {
		return err
	}
	b, err := s.wire.read(step, 2)
	if err != nil {
		return err
	}
	if b[0] == venCryptMajor && b[1] == venCryptMinor {
		return nil
	}
	_ = s.wire.write(step, []byte{venCryptDeclined}) // the viewer's fault is what counts
	return fail(KindVersion, step, "version %d.%d is not spoken here", b[0], b[1])
}

// subType offers types, reads the viewer's choice and takes it. A byte right behind the choice was
// sent before the choice was accepted, which no viewer does: the read asks for one byte more, and
// keeps none.
func (s *Server) subType(types []SubType) (SubType, error) {
	const step = "reading the VeNCrypt sub-type"
	list := []byte{venCryptAgreed, byte(len(types))}
	for _, t := range types {
		list = binary.BigEndian.AppendUint32(list, uint32(t))
	}
	s.wire.within(s.timeouts.Step)
	if err := s.wire.write("offering VeNCrypt sub-types", list); err != nil {
		return 0, err
	}
	var b []byte
	var early bool
	var err error
	if slices.Contains(types, Plain) { // the user and password may be there with it
		b, err = s.wire.read(step, 4)
	} else {
		b, early, err = s.wire.readLast(step, 4)
	}
	if err != nil {
		return 0, err
	}
	choice := SubType(binary.BigEndian.Uint32(b))
	for _, t := range types {
		if t != choice {
			continue
		}
		if early {
			return 0, fail(KindPlaintext, step, "more came behind it, before TLS")
		}
		if t == Plain {
			return t, nil
		}
		return t, s.wire.write("taking the VeNCrypt sub-type", []byte{subTypeTaken})
	}
	_ = s.wire.write(step, []byte{subTypeRefused}) // the viewer's fault is what counts
	return 0, fail(KindNotOffered, step, "sub-type %d was not offered", uint32(choice))
}

// credentials are what the viewer shows behind its sub-type.
func (s *Server) credentials(o Offer, sub SubType) (Proof, error) {
	switch sub {
	case X509Vnc:
		return s.challenge(o, nil, SecurityX509Vnc)
	case Plain, X509Plain:
		proof := Proof{Security: sub.Security()}
		s.forPerson(o)
		var err error
		proof.User, proof.Password, err = s.wire.readPlain()
		if KindOf(err) == KindTooLong {
			_ = s.wire.write("refusing the user and password", s.failure(tooLong)) // the viewer's fault is what counts
		}
		return proof, err
	}
	return Proof{Security: sub.Security()}, nil
}
