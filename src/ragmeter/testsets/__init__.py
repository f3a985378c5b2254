"""Test sets from documents: passages, a plan of questions, filters and figures. Nobody is asked here."""
