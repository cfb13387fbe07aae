//! Folded stacks as a tree, in which every frame knows what was spent in it and above it.

use std::collections::BTreeMap;

use super::Folded;

/// A frame, reached on one way.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// What was spent in the frame and in all that it called.
    pub inclusive: u64,
    /// What it called, by name.
    pub calls: BTreeMap<String, Node>,
}

impl Node {
    /// The root of all stacks.
    pub fn of(folded: &Folded) -> Self {
        let mut root = Self::default();
        for (stack, spent) in folded.iter() {
            root.inclusive += spent;
            let mut node = &mut root;
            for frame in stack {
                node = node.calls.entry(frame.clone()).or_default();
                node.inclusive += spent;
            }
        }
        root
    }

    /// What was spent in the frame itself.
    pub fn own(&self) -> u64 {
        self.inclusive - self.calls.values().map(|call| call.inclusive).sum::<u64>()
    }

    /// The node at the end of `path`, if there is one.
    pub fn at<'a>(&self, path: impl IntoIterator<Item = &'a String>) -> Option<&Self> {
        path.into_iter().try_fold(self, |node, frame| node.calls.get(frame))
    }

    /// Shows every node but the root to `visit`, callers before what they call.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&[&'a String], &'a Self)) {
        fn below<'a>(
            node: &'a Node,
            path: &mut Vec<&'a String>,
            visit: &mut impl FnMut(&[&'a String], &'a Node),
        ) {
            for (frame, call) in &node.calls {
                path.push(frame);
                visit(path, call);
                below(call, path, visit);
                path.pop();
            }
        }
        below(self, &mut Vec::new(), visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_knows_itself_and_what_it_called() {
        let tree = Node::of(&"a 1\na;b 2\na;b;c 4\nd 8\n".parse().unwrap());
        assert_eq!(tree.inclusive, 15);
        let path = ["a".to_owned(), "b".to_owned()];
        let b = tree.at(&path).unwrap();
        assert_eq!((b.inclusive, b.own()), (6, 2));
        assert!(tree.at(&["b".to_owned()]).is_none());
        let mut seen = Vec::new();
        tree.walk(&mut |path, node| seen.push((path.len(), node.inclusive)));
        assert_eq!(seen, [(1, 7), (2, 6), (3, 4), (1, 8)]);
    }
}
