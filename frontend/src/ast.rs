//! The syntax tree: C as it was written, with spans and without types.
//!
//! Name resolution fills in which declaration a name means; nothing else changes the tree after the
//! parser made it.

use crate::flow::Flow;
use crate::structure::Structure;
use crate::token::TypeWord;
use std::collections::HashSet;
use std::rc::Rc;
use strew_affine::{BinaryOp as Arithmetic, CompareOp, Span, Type, Value};

/// Which declaration of its function a name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeclarationId(pub(crate) usize);

/// A source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Function definitions, in the order of the source.
    pub functions: Vec<Function>,
    /// Functions that are declared only, in the order of the source.
    pub prototypes: Vec<Prototype>,
    /// Types and constants outside of functions, in the order of the source.
    pub declarations: Vec<Declaration>,
    /// What has to hold, in the order of the source.
    pub assertions: Vec<Assertion>,
    /// Combiners that the file declares, in the order of the source.
    pub reductions: Vec<Reduction>,
    /// The names in what could not be read: whoever uses them made no mistake.
    pub(crate) lost: HashSet<String>,
}

/// A function declared without its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// What it returns.
    pub returns: TypeName,
    /// Its name.
    pub name: Name,
    /// In the order of a call.
    pub parameters: Vec<Parameter>,
    /// Up to the closing parenthesis.
    pub span: Span,
}

/// A function definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// What it returns.
    pub returns: TypeName,
    /// Its name.
    pub name: Name,
    /// In the order of a call.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Vec<Statement>,
    /// The names in what could not be read: whoever uses them made no mistake.
    pub(crate) lost: HashSet<String>,
    /// From the first word to the closing brace.
    pub span: Span,
}

/// An identifier, where it is declared or used.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// What it means, once names are resolved.
    pub declaration: Option<DeclarationId>,
}

/// Words that name a type, with its qualifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName {
    /// In the order of the source.
    pub words: Vec<Specifier>,
    /// The `*`s behind the words, where no name follows (casts, `sizeof`, unnamed parameters, what
    /// a function returns).
    pub pointers: Vec<Pointer>,
    /// The lengths behind the words, where no name follows.
    pub lengths: Vec<Length>,
    /// Where they stand.
    pub span: Span,
}

/// A `*` in a declarator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// Whether the pointer itself is `const`: `* const`.
    pub is_const: bool,
}

/// `struct tag { members }`, or `struct tag` alone.
#[derive(Clone, Debug, PartialEq)]
pub struct StructSpecifier {
    /// Absent in `struct { … }`.
    pub tag: Option<Name>,
    /// Absent where the structure is only named.
    pub members: Option<Vec<Declaration>>,
    /// What it is, once names are resolved.
    pub definition: Option<Rc<Structure>>,
    /// All of it.
    pub span: Span,
}

/// `enum tag { enumerators }`, or `enum tag` alone.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumSpecifier {
    /// Absent in `enum { … }`.
    pub tag: Option<Name>,
    /// Absent where the enumeration is only named.
    pub enumerators: Option<Vec<Enumerator>>,
    /// The integer type that it is, once names are resolved.
    pub ty: Option<Type>,
    /// All of it.
    pub span: Span,
}

/// One constant of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct Enumerator {
    /// The constant.
    pub name: Name,
    /// Absent where it is one more than the constant before it.
    pub value: Option<Expr>,
}

/// One word of a declaration in front of what it declares.
#[derive(Clone, Debug, PartialEq)]
pub enum Specifier {
    /// A word of the type.
    Type(TypeWord),
    /// A name that a `typedef` declared; once names are resolved, its words stand here instead.
    Named(Name),
    /// A structure.
    Struct(Box<StructSpecifier>),
    /// An enumeration.
    Enum(Box<EnumSpecifier>),
    /// `typedef`
    Typedef,
    /// `register`
    Register,
    /// `extern`
    Extern,
    /// `const`
    Const,
    /// `restrict`
    Restrict,
    /// `static`
    Static,
    /// `inline`
    Inline,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its type, or that of its elements.
    pub ty: TypeName,
    /// Absent in `void f(void)`.
    pub declarator: Option<Declarator>,
    /// All of it.
    pub span: Span,
}

/// A declaration of variables, of members, or of names for a type.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The type of all of them.
    pub ty: TypeName,
    /// None where only a structure or an enumeration is declared.
    pub declarators: Vec<Declarator>,
    /// Up to the semicolon.
    pub span: Span,
}

/// `_Static_assert(condition, "text");`
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    /// A constant that is not 0.
    pub condition: Expr,
    /// What the source says about it; empty where it says nothing.
    pub text: String,
    /// Up to the closing parenthesis.
    pub span: Span,
}

/// `#pragma strew declare reduction(name : type : value) identity(neutral)`, as the functions that
/// it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// `type name(type a, type b) { return value; }`
    pub combiner: Function,
    /// `type name(void) { return neutral; }`
    pub identity: Function,
    /// From `reduction` to the last parenthesis.
    pub span: Span,
}

/// One name that a declaration declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// The `*`s before the name. `(*a)[n]` counts as `a[][n]`, which is the same in a parameter.
    pub pointers: Vec<Pointer>,
    /// The name.
    pub name: Name,
    /// One for each dimension of an array.
    pub lengths: Vec<Length>,
    /// What stands behind `=`; with [`ExprKind::Compound`] the only place of [`ExprKind::Braced`]
    /// besides itself.
    pub initial: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// `[…]` in a declarator.
#[derive(Clone, Debug, PartialEq)]
pub struct Length {
    /// Absent in `[]`.
    pub length: Option<Expr>,
    /// With the brackets.
    pub span: Span,
}

/// `#pragma strew TEXT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaText {
    /// What stands behind `strew`.
    pub text: String,
    /// Where that stands.
    pub span: Span,
}

/// A statement or a declaration, with what stands in front of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// In the order of the source.
    pub pragmas: Vec<PragmaText>,
    /// In the order of the source.
    pub labels: Vec<Name>,
    /// The `case` and `default` labels, in the order of the source.
    pub cases: Vec<Case>,
    /// The statement itself.
    pub kind: StatementKind,
    /// Without pragmas and labels.
    pub span: Span,
    /// How many statements contain each other here.
    pub(crate) depth: usize,
    /// How it can end.
    pub(crate) flow: Flow,
}

/// `case value:` or `default:`
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Absent for `default`.
    pub value: Option<Expr>,
    /// With the colon.
    pub span: Span,
}

/// The statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `;`
    Empty,
    /// `{ … }`
    Block(Vec<Statement>),
    /// `int i = 0, j;`
    Declaration(Declaration),
    /// `_Static_assert(condition, "text");`
    Assertion(Assertion),
    /// `a[i] += 1;`
    Expression(Expr),
    /// `if (condition) then else otherwise`
    If {
        /// What decides.
        condition: Expr,
        /// Runs when it is not 0.
        then: Box<Statement>,
        /// Runs when it is 0.
        otherwise: Option<Box<Statement>>,
    },
    /// `for (…; …; …) body`
    For(Box<For>),
    /// `while (condition) body`
    While {
        /// Evaluated before each turn.
        condition: Expr,
        /// One turn.
        body: Box<Statement>,
    },
    /// `do body while (condition);`
    DoWhile {
        /// One turn.
        body: Box<Statement>,
        /// Evaluated after each turn.
        condition: Expr,
    },
    /// `switch (value) body`: the labels are in [`Statement::cases`] of the statements inside.
    Switch {
        /// What selects the label.
        value: Expr,
        /// Nearly always a block.
        body: Box<Statement>,
    },
    /// `goto label;`
    Goto(Name),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return …;`
    Return(Option<Expr>),
    /// An error was reported here.
    Invalid,
}

/// A `for` loop.
#[derive(Clone, Debug, PartialEq)]
pub struct For {
    /// The first part of the header.
    pub start: Start,
    /// The second part of the header.
    pub condition: Option<Expr>,
    /// The third part of the header.
    pub step: Option<Expr>,
    /// The body.
    pub body: Statement,
}

/// The first part of the header of a `for` loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// Nothing.
    Nothing,
    /// `int i = 0;`
    Declaration(Declaration),
    /// `i = 0;`
    Expression(Expr),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The expression itself.
    pub kind: ExprKind,
    /// Where it stands, without parentheses around it.
    pub span: Span,
    /// How many expressions contain each other here.
    pub(crate) depth: usize,
}

/// The expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Constant(Value),
    /// A variable or an array; once names are resolved, constants are [`ExprKind::Constant`].
    Name(Name),
    /// `base[subscript]`
    Index(Box<Expr>, Box<Expr>),
    /// `base.member`, or `base->member` when the flag is set.
    Member(Box<Expr>, Name, bool),
    /// `function(arguments)`
    Call(Name, Vec<Expr>),
    /// An operator in front of its operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator between its operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `(type) operand`
    Cast(TypeName, Box<Expr>),
    /// `(type){ elements }`: the elements are [`ExprKind::Braced`].
    Compound(TypeName, Box<Expr>),
    /// `place = value`, or `place op= value`
    Assign(Option<Arithmetic>, Box<Expr>, Box<Expr>),
    /// `++` or `--`, before or behind the place.
    Step(Step, Box<Expr>),
    /// `first, second`
    Comma(Box<Expr>, Box<Expr>),
    /// `sizeof operand`: the operand is not evaluated.
    SizeOf(Box<Expr>),
    /// `sizeof (type)`
    SizeOfType(TypeName),
    /// `{ elements }` behind the `=` of a declaration, of a compound literal, or inside of such.
    Braced(Vec<Element>),
    /// A string literal.
    Text,
    /// An error was reported here.
    Invalid,
}

/// One element of an initialiser in braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// What stands in front of `=`; empty where the position says which element is meant.
    pub designators: Vec<Designator>,
    /// The value, or the values in braces of their own.
    pub value: Expr,
}

/// Says which element an initialiser is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Designator {
    /// `[index]`
    Index(Expr),
    /// `.member`
    Member(Name),
}

/// `++` and `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// `++` rather than `--`.
    pub up: bool,
    /// Before the place rather than behind it.
    pub prefix: bool,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `~`
    BitNot,
    /// `!`
    Not,
    /// `*`
    Dereference,
    /// `&`
    AddressOf,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+ - * / % & | ^ << >>`
    Arithmetic(Arithmetic),
    /// `== != < <= > >=`
    Compare(CompareOp),
    /// `&&`
    And,
    /// `||`
    Or,
}

impl TypeName {
    /// The type of the elements: the same without lengths.
    pub(crate) fn element(&self) -> Self {
        Self {
            lengths: Vec::new(),
            ..self.clone()
        }
    }
}

impl UnaryOp {
    /// The operator as C writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::BitNot => "~",
            Self::Not => "!",
            Self::Dereference => "*",
            Self::AddressOf => "&",
        }
    }
}

impl BinaryOp {
    /// The operator as C writes it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Arithmetic(op) => op.symbol(),
            Self::Compare(op) => op.symbol(),
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}

impl ExprKind {
    /// The expressions that this one is made of, left to right.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            Self::Constant(_)
            | Self::Name(_)
            | Self::SizeOfType(_)
            | Self::Text
            | Self::Invalid => vec![],
            Self::Call(_, arguments) => arguments.iter().collect(),
            Self::Braced(elements) => elements.iter().map(|it| &it.value).collect(),
            Self::Unary(_, operand)
            | Self::Cast(_, operand)
            | Self::Compound(_, operand)
            | Self::Step(_, operand)
            | Self::SizeOf(operand)
            | Self::Member(operand, _, _) => vec![operand],
            Self::Index(left, right)
            | Self::Binary(_, left, right)
            | Self::Assign(_, left, right)
            | Self::Comma(left, right) => vec![left, right],
            Self::Conditional(condition, then, otherwise) => vec![condition, then, otherwise],
        }
    }
}

impl StatementKind {
    /// The statements directly inside this one.
    pub fn children(&self) -> Vec<&Statement> {
        match self {
            Self::Block(statements) => statements.iter().collect(),
            Self::If {
                then, otherwise, ..
            } => std::iter::once(then)
                .chain(otherwise)
                .map(Box::as_ref)
                .collect(),
            Self::For(it) => vec![&it.body],
            Self::While { body, .. } | Self::DoWhile { body, .. } | Self::Switch { body, .. } => {
                vec![body]
            }
            Self::Empty
            | Self::Declaration(_)
            | Self::Assertion(_)
            | Self::Expression(_)
            | Self::Goto(_)
            | Self::Break
            | Self::Continue
            | Self::Return(_)
            | Self::Invalid => vec![],
        }
    }
}
